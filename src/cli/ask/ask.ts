import type { FilterExpression, LexicalOptions, SearchMode } from '../../../lib/internal.js';
import type { ClientAgent, ClientSession, Graph } from '../../client/index.js';
import { replyToWire } from '../../client/names.js';
import type { Hit } from '../../protocol/retrieval.js';
import { CommandError, UsageError } from '../failure.js';
import { lexicalRequest } from '../flags/lexical.js';
import { type RetrievalFlags, requireEffect, rerankRequest, searchFields } from '../flags/retrieval.js';
import { interruptible } from '../interrupt.js';
import { note, printJsonLine } from '../output.js';
import { printHits } from '../search/hits.js';
import { jsonArgument, jsonFile, jsonObjectArgument } from '../search/json-argument.js';
import { planNotes } from '../search/plan.js';
import { counted } from '../terminal/amounts.js';
import { printable } from '../terminal/printable.js';
import { answeringGraph, storageName } from './answering-graph.js';
import { converse } from './conversation.js';
import { placeOf } from './place.js';
import { reach, type ServerFlags } from './reach.js';
import { ReplyPrinter, refuseFailure } from './reply-printer.js';

export interface AskFlags extends RetrievalFlags, ServerFlags {
  graph?: string;
  generate?: boolean;
  model?: string;
  json?: boolean;
}

type Answer = (question: string) => Promise<void>;

/** `lorekeep ask`: opens a knowledge base on a server and asks about it, once or in a conversation. */
export async function ask(kb: string, question: string | undefined, flags: AskFlags): Promise<void> {
  if (kb === '')
    throw new UsageError('the name of the knowledge base is empty; a path such as kb.json is expected');
  requireEffect(flags);
  const { folder, path } = await placeOf(kb, flags.host);
  const lexical = await lexicalRequest(flags);
  const filter = (await jsonArgument('--filter', flags.filter)) as FilterExpression | undefined;
  const variables = await jsonObjectArgument('--variables', flags.variables);
  // The server checks it.
  const graph = await graphOf(flags, filter, lexical);
  await interruptible(async (signal) => {
    await using client = await reach(flags, signal);
    const session = await client.createSession({ storageDataFolder: folder }, { signal });
    const opened = await session
      .createEmbeddedStringStorage({ name: storageName, configPath: path }, { signal })
      .catch((error) => {
        throw openFailure(error, kb);
      });
    const answer =
      graph === undefined
        ? searcher(session, flags, { filter, lexical, variables, signal })
        : talker(await session.createAgent({ graph }, { signal }), flags, { variables, signal });
    // Awaited here, while the connection is open.
    if (question !== undefined) return await answer(question);
    if (process.stdin.isTTY) note(`${printable(kb)}: ${counted(opened.recordCount, 'record')}; Ctrl-D ends`);
    await converse({ answer, json: flags.json }, signal);
  });
}

/** The graph of the agent that answers; undefined: the hits are shown. */
async function graphOf(
  flags: AskFlags,
  filter: FilterExpression | undefined,
  lexical: LexicalOptions | undefined,
): Promise<Graph | undefined> {
  if (flags.graph !== undefined) return (await jsonFile('--graph', flags.graph)) as Graph;
  if (flags.generate !== true && flags.model === undefined) return undefined;
  const search = { ...searchFields(flags), lexical, filter, rerank: rerankRequest(flags) };
  return answeringGraph(search, { model: flags.model, cite: 'marks' });
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
        name: storageName,
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

/** Shows the agent's reply while it is written, and its citations; of an agent that says nothing, its hits. */
function talker(
  agent: ClientAgent,
  { json }: AskFlags,
  options: Omit<SearchContext, 'filter' | 'lexical'>,
): Answer {
  return async (question) => {
    const reply = new ReplyPrinter({ silent: json === true });
    const complete = await reply.show(agent.stream(question, { ...options, hits: true }));
    refuseFailure(complete);
    const { status, text, citations, hits, finish, action } = replyToWire('TurnComplete', complete);
    if (json) return printJsonLine({ question, status, text, citations, hits, finish, action });
    if (text === '' && action === undefined && hits !== undefined) printHits(hits, { mode: modeOf(hits) });
    reply.showCitations(complete);
  };
}

function openFailure(error: unknown, kb: string): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  if (code !== 3010) return error;
  const nowhere = `${kb}: there is no such file here, nor in the server's storage root (${message})`;
  return new CommandError('NOT_FOUND', nowhere, { cause: error });
}
