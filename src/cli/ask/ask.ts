import type { FilterExpression, LexicalOptions, SearchMode } from '../../../lib/internal.js';
import type { ClientAgent, ClientSession, ForgetProposal, Graph } from '../../client/index.js';
import { replyToWire } from '../../client/names.js';
import type { Hit } from '../../protocol/retrieval.js';
import type { FolderOf } from '../../search/record-place.js';
import { UsageError } from '../failure.js';
import { lexicalRequest } from '../flags/lexical.js';
import { type RetrievalFlags, requireEffect, rerankRequest, searchFields } from '../flags/retrieval.js';
import { interruptible } from '../interrupt.js';
import { note, printJsonLine } from '../output.js';
import { printHits } from '../search/hits.js';
import { jsonArgument, jsonFile, jsonObjectArgument } from '../search/json-argument.js';
import { planNotes } from '../search/plan.js';
import { counted } from '../terminal/amounts.js';
import { printable } from '../terminal/printable.js';
import { answeringGraph, quotingGraph, storageName } from './answering-graph.js';
import { converse } from './conversation.js';
import { type AskUser, answerForget, askOnTerminal } from './forget-answer.js';
import { LoadingNote } from './loading-note.js';
import { openPlaces } from './open-places.js';
import { type Opened, type OpenFlags, refuseIneffective } from './opened.js';
import { dividePlaces, namesOf } from './places.js';
import { ReplyPrinter, refuseFailure } from './reply-printer.js';
import { foldersOf } from './sources.js';

export interface AskFlags extends RetrievalFlags, OpenFlags {
  graph?: string;
  generate?: boolean;
}

type Answer = (question: string, ask?: AskUser) => Promise<void>;

/** `lorekeep ask`: asks folders and knowledge bases, in this process or on a server, once or in a conversation. */
export async function ask(words: readonly string[], flags: AskFlags): Promise<void> {
  requireEffect(flags);
  const places = await dividePlaces(words, flags.host !== undefined || flags.port !== undefined, 'ask');
  refuseIneffective(places, flags);
  const { question } = places;
  if (question?.trim() === '') throw new UsageError('the question is blank');
  const lexical = await lexicalRequest(flags);
  const filter = (await jsonArgument('--filter', flags.filter)) as FilterExpression | undefined;
  const variables = await jsonObjectArgument('--variables', flags.variables);
  // The server checks it.
  const given = flags.graph === undefined ? undefined : ((await jsonFile('--graph', flags.graph)) as Graph);
  await interruptible(async (signal) => {
    await using opened = await openPlaces(places, flags, signal);
    const { session, records } = opened;
    const search = { ...searchFields(flags), lexical, filter, rerank: rerankRequest(flags) };
    const isHere = 'here' in places;
    const generates = flags.generate === true || opened.model !== undefined;
    const quotes = given === undefined && isHere && !generates;
    const graph = given ?? graphOf(opened, { generates, quotes }, search);
    const loading = new LoadingNote(flags);
    const answer =
      graph === undefined
        ? searcher(session, flags, { filter, lexical, variables, signal })
        : talker(await loading.during(session.createAgent({ graph }, { signal })), flags, {
            ...{ variables, signal, loading, quotes },
            folderOf: opened.folderOf,
          });
    // Awaited here, while the connection is open.
    if (question !== undefined) return await answer(question);
    if (process.stdin.isTTY)
      note(`${printable(namesOf(places))}: ${counted(records, 'record')}; Ctrl-D ends`);
    await converse({ answer, json: flags.json }, signal);
  });
}

/** Without any record, a language model would answer from what it has learned. */
const whenNothingIsFound = {
  onNoKnowledge: 'fallback',
  fallback: 'Nothing relevant found.',
  minRelevance: 0,
} as const;

/** The graph of the agent that answers; undefined: the hits are shown. */
function graphOf(
  { storages, model }: Opened,
  { generates, quotes }: { generates: boolean; quotes: boolean },
  search: object,
): Graph | undefined {
  if (generates)
    return answeringGraph(storages, search, {
      model,
      cite: 'marks',
      ...(storages > 0 && whenNothingIsFound),
    });
  return quotes ? quotingGraph(storages, search) : undefined;
}

interface SearchContext {
  filter: FilterExpression | undefined;
  lexical: LexicalOptions | undefined;
  variables: Record<string, unknown> | undefined;
  signal: AbortSignal;
}

/** Shows the hits. */
function searcher(session: ClientSession, flags: AskFlags, context: SearchContext): Answer {
  const { json } = flags;
  const { filter, lexical, variables, signal } = context;
  return async (question) => {
    const found = await session.search(
      {
        ...searchFields(flags),
        name: storageName(0),
        text: question,
        lexical,
        highlight: json !== true || lexical !== undefined,
        filter,
        variables,
        rerank: rerankRequest(flags),
      },
      { signal },
    );
    const { hits, plan } = replyToWire('SearchEmbeddedStringStorageResponse', found);
    if (json) return printJsonLine({ question, hits, plan });
    printHits(hits, { mode: plan.mode });
    for (const each of planNotes(plan, hits.length, flags)) note(`lorekeep: ${each}`);
  };
}

/** Returns the mode of the searches that found the hits. */
function modeOf(hits: readonly Hit[]): SearchMode {
  const meaning = hits.some(({ distance }) => distance !== undefined);
  const words = hits.some(({ bm25_score }) => bm25_score !== undefined);
  if (words && !meaning) return 'lexical';
  return words ? 'hybrid' : 'dense';
}

interface TalkContext extends Omit<SearchContext, 'filter' | 'lexical'> {
  loading: LoadingNote;
  folderOf: FolderOf;
  /** Whether replies are quotations, which are shown with their places. */
  quotes: boolean;
}

/** Shows the agent's reply while it is written, and its sources; of an agent that says nothing, its hits. */
function talker(
  agent: ClientAgent,
  { json }: AskFlags,
  { loading, folderOf, quotes, ...options }: TalkContext,
): Answer {
  return async (question, ask = askOnTerminal) => {
    const forget = (proposal: ForgetProposal) => answerForget(agent, proposal, ask, options.signal);
    const reply = new ReplyPrinter({ silent: json === true || quotes, loading, folderOf, forget });
    const complete = await reply.show(agent.stream(question, { ...options, hits: true }));
    refuseFailure(complete);
    const { status, text, citations, sources, hits, finish, action } = replyToWire('TurnComplete', complete);
    if (json) {
      const folders = foldersOf([...(sources ?? []), ...(hits ?? [])], folderOf);
      const found = { citations, sources, hits, ...(folders !== undefined && { folders }) };
      return printJsonLine({ question, status, text, ...found, finish, action });
    }
    if (text === '' && action === undefined && hits !== undefined) {
      if (quotes && hits.length > 0) note('lorekeep: no sentence answers this; the nearest records:');
      printHits(hits, { mode: modeOf(hits) });
      if (hits.length === 0) note('lorekeep: nothing relevant found');
      return;
    }
    if (quotes) reply.showQuotes(complete);
    else reply.showSources(complete);
  };
}
