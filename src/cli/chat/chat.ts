import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { isJsonWith, onAbort, readRegularBytes, replaceFile } from '../../../lib/basics.js';
import { checkJsonShape } from '../../base/schema/json-shape.js';
import type { ClientAgent, ForgetProposal, Graph, ServerFrames } from '../../client/index.js';
import { replyToWire } from '../../client/names.js';
import type { FolderOf } from '../../search/record-place.js';
import { answeringGraph, quotingGraph } from '../ask/answering-graph.js';
import { converse } from '../ask/conversation.js';
import { type AskUser, answerForget } from '../ask/forget-answer.js';
import { LoadingNote } from '../ask/loading-note.js';
import { openPlaces } from '../ask/open-places.js';
import { type Opened, type OpenFlags, refuseIneffective } from '../ask/opened.js';
import { dividePlaces } from '../ask/places.js';
import { noSentence, ReplyPrinter, refuseFailure } from '../ask/reply-printer.js';
import { foldersOf } from '../ask/sources.js';
import { CommandError, UsageError } from '../failure.js';
import { interruptible } from '../interrupt.js';
import { note, print, printJsonLine } from '../output.js';
import { jsonFile, textArgument } from '../search/json-argument.js';
import { ChatStats } from './stats.js';

export interface ChatFlags extends OpenFlags {
  graph?: string;
  system?: string;
  topK?: number;
  history?: string;
}

/** Said if the records have nothing that is relevant enough. */
const nothing = 'nothing relevant found';

type History = ServerFrames['ExportAgentResponse']['history'];

/** `lorekeep chat`: a conversation with an agent that remembers it, in this process or on a server. */
export async function chat(words: readonly string[], flags: ChatFlags): Promise<void> {
  const atServer = flags.host !== undefined || flags.port !== undefined;
  const places = words.length === 0 ? undefined : await dividePlaces(words, atServer, 'chat');
  if (places?.question !== undefined)
    throw new UsageError(`${places.question}: there is no such file or folder; chat takes no question`);
  refuseIneffective(places, flags);
  const system = flags.system === undefined ? undefined : await textArgument('--system', flags.system);
  const given = flags.graph === undefined ? undefined : ((await jsonFile('--graph', flags.graph)) as Graph);
  const history = flags.history === undefined ? undefined : await readHistory(flags.history);
  await interruptible(async (signal) => {
    await using opened = await openPlaces(places, flags, signal);
    const quotes = given === undefined && !opened.hasLanguageModel;
    const graph = given ?? graphOf(opened, flags, system);
    const loading = new LoadingNote(flags);
    const creating = opened.session.createAgent({ graph, history, enableDiagnostics: false }, { signal });
    const { folderOf } = opened;
    const agent = await loading.during(creating);
    const searches = graph.nodes.some(({ type }) => type === 'retrieve');
    const talk = new Talk(agent, { flags, loading, folderOf, quotes, searches, signal });
    if (process.stdin.isTTY) note(`${commandList}; Ctrl-D ends, too, and Ctrl-C cancels a reply`);
    await converse(talk, signal);
  });
}

function graphOf(
  { storages, model, hasLanguageModel }: Opened,
  { topK }: ChatFlags,
  system: string | undefined,
): Graph {
  const cite = storages === 0 ? undefined : 'marks';
  if (hasLanguageModel) return answeringGraph(storages, { topK }, { model, system, cite });
  note(
    'lorekeep: there is no language model, so the replies are sentences of the records; --model names one',
  );
  return quotingGraph(storages, { topK });
}

/** Commands of a conversation. */
const commandList = '/stats shows tokens and times, /help this list, /quit ends';

/** No frame has more. */
const maxHistoryBytes = 256 * 1024 * 1024;

/** The conversation of a file that may not exist yet. @throws CommandError */
async function readHistory(file: string): Promise<History | undefined> {
  // It is written again: no link may lead to another file.
  const flags = constants.O_NOFOLLOW ?? 0;
  const bytes = await readRegularBytes(file, maxHistoryBytes, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    const reason = error.code === 'ELOOP' ? `${file}: is a symbolic link` : error.message;
    throw new CommandError('IO', `--history: ${reason}`, { cause: error });
  });
  if (bytes === undefined || bytes.length === 0) return undefined;
  const refuse = (reason: string, cause?: unknown): never => {
    throw new CommandError('CORRUPT', `${file}${reason}`, { cause });
  };
  // The file is rewritten later, and anything that was not read exactly would be lost.
  if (!isUtf8(bytes)) refuse(': is not UTF-8');
  const text = new TextDecoder().decode(bytes); // without a byte order mark
  let history: History | undefined;
  try {
    // The server checks it.
    history = JSON.parse(text) as History;
  } catch (cause) {
    refuse(`: not a JSON file: ${(cause as Error).message}`, cause);
  }
  const problem = checkJsonShape(text);
  if (problem !== undefined) refuse(`${problem.place}: ${problem.what}`);
  return history;
}

interface TalkOptions {
  flags: ChatFlags;
  loading: LoadingNote;
  folderOf: FolderOf;
  /** Whether replies are quotations. */
  quotes: boolean;
  /** Whether records are searched. */
  searches: boolean;
  signal: AbortSignal;
}

/** Answers the lines of a conversation. */
class Talk {
  readonly #agent: ClientAgent;
  readonly #options: TalkOptions;
  readonly #flags: ChatFlags;
  readonly #signal: AbortSignal;
  readonly #stats = new ChatStats();
  #turn: AbortController | undefined;

  constructor(agent: ClientAgent, options: TalkOptions) {
    this.#agent = agent;
    this.#options = options;
    this.#flags = options.flags;
    this.#signal = options.signal;
  }

  get json(): boolean | undefined {
    return this.#flags.json;
  }

  readonly answer = async (line: string, ask: AskUser): Promise<boolean> => {
    const command = /^\/[a-z]+(?=\s|$)/i.exec(line)?.[0];
    if (command === undefined) await this.#ask(line.replace(/^\/\//, '/'), ask);
    else if (line === '/quit') return false;
    else if (line === '/stats') for (const fact of this.#stats.lines()) print(fact);
    else if (line === '/help') print(commandList);
    else
      throw new UsageError(
        `${command}: there is no such command. ${commandList}. A message that begins with / is written //`,
      );
    return true;
  };

  readonly onInterrupt = (): boolean => {
    const turn = this.#turn;
    turn?.abort(new CancelledTurn());
    return turn !== undefined;
  };

  async #ask(text: string, ask: AskUser): Promise<void> {
    const turn = new AbortController();
    const stopListening = onAbort(this.#signal, () => turn.abort(this.#signal.reason));
    this.#turn = turn;
    try {
      await this.#show(text, ask, turn.signal);
    } catch (error) {
      if (!(error instanceof CancelledTurn)) throw error;
      note('cancelled');
    } finally {
      this.#turn = undefined;
      stopListening();
    }
    await this.#keep();
  }

  async #show(text: string, ask: AskUser, signal: AbortSignal): Promise<void> {
    const { json } = this.#flags;
    const started = performance.now();
    const { loading, folderOf, quotes, searches } = this.#options;
    const forget = (proposal: ForgetProposal) => answerForget(this.#agent, proposal, ask, signal);
    const reply = new ReplyPrinter({ silent: json === true || quotes, loading, folderOf, forget });
    const complete = await reply.show(this.#agent.stream(text, { signal, hits: true }));
    const firstMs = reply.firstText === undefined ? undefined : reply.firstText - started;
    this.#stats.add(complete, performance.now() - started, firstMs);
    refuseFailure(complete);
    const isNothing = searches && complete.hits?.length === 0;
    if (!json) {
      if (isNothing) return print(quotes ? nothing : `  (${nothing} in the records)`);
      if (quotes && complete.text === '') return print(noSentence);
      return quotes ? reply.showQuotes(complete) : reply.showSources(complete);
    }
    const wire = replyToWire('TurnComplete', complete);
    const { text: said, citations, sources, finish, usage, action, memory } = wire;
    const folders = foldersOf(sources ?? [], folderOf);
    const found = { citations, sources, ...(folders !== undefined && { folders }) };
    const message = isNothing ? nothing : undefined;
    printJsonLine({ question: text, text: said, ...found, finish, usage, action, memory, message });
  }

  /** Writes the conversation to its file, which is absent or was accepted as a history by the server. */
  async #keep(): Promise<void> {
    const { history: file } = this.#flags;
    if (file === undefined) return;
    const history = await this.#agent.export({ signal: this.#signal });
    const isOurs = isJsonWith(({ version, turns }) => typeof version === 'number' && Array.isArray(turns));
    await replaceFile(file, `${JSON.stringify(history, null, 2)}\n`, { isOurs });
  }
}

/** The user cancelled one reply. */
class CancelledTurn extends Error {}
