import type { FilterExpression, LexicalOptions, SearchMode, Tokenizer } from '../../../lib/index.js';
import type { ClientAgent, ClientSession, Graph } from '../../client/index.js';
import { replyToWire } from '../../client/names.js';
import type { Hit } from '../../protocol/retrieval.js';
import { exitStatus } from '../exit-status.js';
import { CommandError, failureReport, UsageError } from '../failure.js';
import { lexicalRequest } from '../flags/lexical.js';
import { type RetrievalFlags, requireEffect, rerankRequest, searchFields } from '../flags/retrieval.js';
import { interruptible } from '../interrupt.js';
import { note, print, printFailure, printJsonLine } from '../output.js';
import { hitLines } from '../search/hits.js';
import { jsonArgument, jsonFile, jsonObjectArgument } from '../search/json-argument.js';
import { Matcher } from '../search/matches.js';
import { planNotes } from '../search/plan.js';
import { findConfig } from '../server-config.js';
import { counted } from '../terminal/amounts.js';
import { printable } from '../terminal/printable.js';
import { Screen } from '../terminal/screen.js';
import { findAccessToken } from './access-token.js';
import { answeringGraph, storageName } from './answering-graph.js';
import { converse } from './conversation.js';
import { placeOf } from './place.js';
import { reach } from './reach.js';
import { ReplyPrinter, refuseFailure } from './reply-printer.js';

export interface AskFlags extends RetrievalFlags {
  host: string;
  port?: number;
  accessTokenFile?: string;
  graph?: string;
  generate?: boolean;
  model?: string;
  json?: boolean;
}

type Answer = (question: string) => Promise<void>;

/** `lorekeep ask`: opens a knowledge base on a server and asks about it, once or in a conversation. */
export async function ask(kb: string, question: string | undefined, given: AskFlags): Promise<void> {
  if (kb === '')
    throw new UsageError('the name of the knowledge base is empty; a path such as kb.json is expected');
  requireEffect(given);
  const { folder, path, tokenizer, fusion: usual } = await placeOf(kb, given.host);
  const flags = given.mode === 'hybrid' && usual !== undefined ? { fusion: usual, ...given } : given;
  const lexical = await lexicalRequest(flags);
  const filter = (await jsonArgument('--filter', flags.filter)) as FilterExpression | undefined;
  const variables = await jsonObjectArgument('--variables', flags.variables);
  // The server checks it.
  const graph = await graphOf(flags, filter, lexical);
  await interruptible(async (signal) => {
    const { host } = flags;
    const port = flags.port ?? (await findConfig(undefined)).config.port;
    const accessToken = await findAccessToken(flags.accessTokenFile, host);
    await using client = await reach({ host, port, accessToken }, signal);
    const session = await client.createSession({ storageDataFolder: folder }, { signal });
    const opened = await session
      .createEmbeddedStringStorage({ name: storageName, configPath: path }, { signal })
      .catch((error) => {
        throw openFailure(error, kb);
      });
    const answer =
      graph === undefined
        ? searcher(session, flags, { filter, lexical, variables, tokenizer, signal })
        : talker(await session.createAgent({ graph }, { signal }), flags, { variables, tokenizer, signal });
    // Awaited here, while the connection is open.
    if (question !== undefined) return await answer(question);
    if (process.stdin.isTTY) note(`${printable(kb)}: ${counted(opened.recordCount, 'record')}; Ctrl-D ends`);
    const onFailure = (error: unknown, asked: string) =>
      goOnAfter(error, asked, { json: flags.json, signal });
    await converse({ answer, onFailure }, signal);
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
  tokenizer: Tokenizer | undefined;
  signal: AbortSignal;
}

/** Shows the hits. */
function searcher(session: ClientSession, flags: AskFlags, context: SearchContext): Answer {
  const { mode, json } = flags;
  const { filter, lexical, variables, tokenizer, signal } = context;
  return async (question) => {
    const found = await session.search(
      {
        ...searchFields(flags),
        name: storageName,
        text: question,
        lexical,
        highlight: lexical !== undefined,
        filter,
        variables,
        rerank: rerankRequest(flags),
      },
      { signal },
    );
    const { hits, plan } = replyToWire('SearchEmbeddedStringStorageResponse', found);
    if (json) return printJsonLine({ question, hits, plan });
    // With lexical options the server knows which words matched.
    showHits(lexical === undefined ? question : matchedWords(hits), hits, { mode, tokenizer });
    for (const each of planNotes(plan, tokenizer, hits.length, flags)) note(`lorekeep: ${each}`);
  };
}

/** The words that the lexical leg found in the hits. */
function matchedWords(hits: readonly Hit[]): string {
  const pieces = hits.flatMap(({ snippet = [] }) => snippet.filter(({ match }) => match));
  return [...new Set(pieces.map(({ text }) => text))].join(' ');
}

function showHits(
  question: string,
  hits: readonly Hit[],
  { mode, tokenizer }: { mode: SearchMode; tokenizer: Tokenizer | undefined },
): void {
  // Where the tokenizer is not known, at least no English stopword is highlighted.
  const matcher = new Matcher(question, tokenizer ?? 'enhanced');
  printHits(hits, { screen: new Screen(process.stdout), mode, matcher, explain: false });
}

/** Returns the mode of the searches that found the hits. */
function modeOf(hits: readonly Hit[]): SearchMode {
  const meaning = hits.some(({ distance }) => distance !== undefined);
  const words = hits.some(({ bm25_score }) => bm25_score !== undefined);
  if (words && !meaning) return 'lexical';
  return words ? 'hybrid' : 'dense';
}

function printHits(hits: readonly Hit[], options: Parameters<typeof hitLines>[1]): void {
  if (hits.length === 0) note('no hits');
  else for (const line of hitLines(hits, options)) print(line);
}

/** Shows the agent's reply while it is written, and its citations; of an agent that says nothing, its hits. */
function talker(
  agent: ClientAgent,
  { json }: AskFlags,
  { tokenizer, ...options }: Omit<SearchContext, 'filter' | 'lexical'>,
): Answer {
  return async (question) => {
    const reply = new ReplyPrinter({ silent: json === true });
    const complete = await reply.show(agent.stream(question, { ...options, hits: true }));
    refuseFailure(complete);
    const { status, text, citations, hits, finish, action } = replyToWire('TurnComplete', complete);
    if (json) return printJsonLine({ question, status, text, citations, hits, finish, action });
    if (text === '' && action === undefined && hits !== undefined)
      showHits(question, hits, { mode: modeOf(hits), tokenizer });
    reply.showCitations(complete);
  };
}

/**
 * One question that fails does not end a conversation; a connection that is gone does. Where the questions come from a
 * program, the exit status shows it.
 */
function goOnAfter(
  error: unknown,
  question: string,
  { json, signal }: { json: boolean | undefined; signal: AbortSignal },
): void {
  signal.throwIfAborted();
  if ((error as Error).name === 'ConnectionLostError') throw error;
  printFailure(error);
  if (json) printJsonLine({ question, ...failureReport(error) });
  if (!process.stdin.isTTY) process.exitCode = exitStatus.failed;
}

function openFailure(error: unknown, kb: string): unknown {
  const { code, message } = error as { code?: unknown; message: string };
  if (code !== 3010) return error;
  const nowhere = `${kb}: there is no such file here, nor in the server's storage root (${message})`;
  return new CommandError('NOT_FOUND', nowhere, { cause: error });
}
