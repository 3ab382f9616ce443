import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { isJsonWith, onAbort, readRegularBytes, replaceFile } from '../../../lib/basics.js';
import { checkJsonShape } from '../../base/schema/json-shape.js';
import type { ClientAgent, Graph, ServerFrames } from '../../client/index.js';
import { replyToWire } from '../../client/names.js';
import { answeringGraph, storageName } from '../ask/answering-graph.js';
import { converse } from '../ask/conversation.js';
import { placeOf } from '../ask/place.js';
import { reach, type ServerFlags } from '../ask/reach.js';
import { ReplyPrinter, refuseFailure } from '../ask/reply-printer.js';
import { CommandError } from '../failure.js';
import { interruptible } from '../interrupt.js';
import { note, print, printJsonLine } from '../output.js';
import { jsonFile, textArgument } from '../search/json-argument.js';
import { ChatStats } from './stats.js';

export interface ChatFlags extends ServerFlags {
  graph?: string;
  model?: string;
  system?: string;
  topK?: number;
  history?: string;
  json?: boolean;
}

type History = ServerFrames['ExportAgentResponse']['history'];

/** `lorekeep chat`: a conversation with an agent that remembers it. */
export async function chat(kb: string | undefined, flags: ChatFlags): Promise<void> {
  const graph = await graphOf(kb, flags);
  const history = flags.history === undefined ? undefined : await readHistory(flags.history);
  await interruptible(async (signal) => {
    await using client = await reach(flags, signal);
    const place = kb === undefined ? undefined : await placeOf(kb, flags.host);
    const session = await client.createSession({ storageDataFolder: place?.folder }, { signal });
    if (place !== undefined)
      await session.createEmbeddedStringStorage({ name: storageName, configPath: place.path }, { signal });
    const agent = await session.createAgent({ graph, history, enableDiagnostics: false }, { signal });
    const talk = new Talk(agent, flags, signal);
    if (process.stdin.isTTY)
      note('/stats shows tokens and times, /quit or Ctrl-D ends, Ctrl-C cancels a reply');
    await converse(talk, signal);
  });
}

async function graphOf(kb: string | undefined, flags: ChatFlags): Promise<Graph> {
  if (flags.graph !== undefined) return (await jsonFile('--graph', flags.graph)) as Graph;
  const system = flags.system === undefined ? undefined : await textArgument('--system', flags.system);
  const search = { topK: flags.topK };
  const cite = kb === undefined ? undefined : 'marks';
  return answeringGraph(kb === undefined ? undefined : search, { model: flags.model, system, cite });
}

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
  const text = bytes.toString('utf8');
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

/** Answers the lines of a conversation. */
class Talk {
  readonly #agent: ClientAgent;
  readonly #flags: ChatFlags;
  readonly #signal: AbortSignal;
  readonly #stats = new ChatStats();
  #turn: AbortController | undefined;

  constructor(agent: ClientAgent, flags: ChatFlags, signal: AbortSignal) {
    this.#agent = agent;
    this.#flags = flags;
    this.#signal = signal;
  }

  get json(): boolean | undefined {
    return this.#flags.json;
  }

  readonly answer = async (line: string): Promise<boolean> => {
    if (line === '/quit') return false;
    if (line === '/stats') for (const fact of this.#stats.lines()) print(fact);
    else await this.#ask(line);
    return true;
  };

  readonly onInterrupt = (): boolean => {
    const turn = this.#turn;
    turn?.abort(new CancelledTurn());
    return turn !== undefined;
  };

  async #ask(text: string): Promise<void> {
    const turn = new AbortController();
    const stopListening = onAbort(this.#signal, () => turn.abort(this.#signal.reason));
    this.#turn = turn;
    try {
      await this.#show(text, turn.signal);
    } catch (error) {
      if (!(error instanceof CancelledTurn)) throw error;
      note('cancelled');
    } finally {
      this.#turn = undefined;
      stopListening();
    }
    await this.#keep();
  }

  async #show(text: string, signal: AbortSignal): Promise<void> {
    const { json } = this.#flags;
    const started = performance.now();
    const reply = new ReplyPrinter({ silent: json === true });
    const complete = await reply.show(this.#agent.stream(text, { signal }));
    const firstMs = reply.firstText === undefined ? undefined : reply.firstText - started;
    this.#stats.add(complete, performance.now() - started, firstMs);
    refuseFailure(complete);
    if (!json) return reply.showCitations(complete);
    const { text: said, citations, finish, usage, action } = replyToWire('TurnComplete', complete);
    printJsonLine({ question: text, text: said, citations, finish, usage, action });
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
