import { type AgentHistory, firstEdition, type HistoryKeeper } from '../agents/history.js';
import { mapInSlices } from '../base/waiting/next-slice.js';
import { fail, ServerError, serverError } from '../protocol/errors.js';
import type { Graph } from '../protocol/graph.js';
import { type History, historySchema, historyVersion } from '../protocol/history.js';
import { toServerError } from '../storages/failure.js';
import type { KeptSession } from '../storages/kept-sessions/kept-session.js';
import type { KeptAgent } from '../storages/kept-sessions/session-store.js';

/** The code of a session that another connection has resumed. */
const takenCode = 2014;

/** The agents of a session that is kept. */
export class SessionKeeping {
  readonly #kept: KeptSession;
  readonly #onTaken: (reason: ServerError) => void;
  /** Kept agents that could not be opened when the session was resumed, by their numbers. */
  readonly #waiting = new Map<number, KeptAgent>();

  /** `onTaken` is called when another connection is found to have resumed the session. */
  constructor(kept: KeptSession, onTaken: (reason: ServerError) => void) {
    this.#kept = kept;
    this.#onTaken = onTaken;
  }

  get secret(): string {
    return this.#kept.secret;
  }

  /** The keeper of an agent: of a new one, or of the kept one of a number with another graph. */
  keeper(graph: Graph, diagnostics: boolean, number = this.#kept.nextNumber()): AgentKeeper {
    const agent = { number, graph: keptGraph(graph), diagnostics, isKept: false };
    return new AgentKeeper(this.#kept, this.#onTaken, agent);
  }

  /** The keeper of a kept agent that is opened as it is. */
  keeperOf({ number, diagnostics }: KeptAgent): AgentKeeper {
    const agent = { number, graph: undefined, diagnostics, isKept: true };
    return new AgentKeeper(this.#kept, this.#onTaken, agent);
  }

  /** A kept agent could not be opened. */
  wait(agent: KeptAgent): void {
    this.#waiting.set(agent.number, agent);
  }

  /** Takes a kept agent that could not be opened, to open it. @throws InvalidField if there is none of the number */
  take(number: number): KeptAgent {
    const agent = this.#waiting.get(number);
    if (agent === undefined)
      fail(1004, `kept: the session has no kept agent ${number} that is not open`, { path: 'kept' });
    this.#waiting.delete(number);
    return agent;
  }

  /** Removes all that is kept. @throws SessionNotKept */
  async remove(): Promise<void> {
    try {
      await this.#kept.remove();
    } catch (error) {
      // It is another connection's, or has expired.
      if (!(error instanceof ServerError) || error.code === 2017) throw error;
    }
  }
}

/** Keeps an agent. */
export class AgentKeeper implements HistoryKeeper {
  readonly number: number;
  readonly #kept: KeptSession;
  readonly #onTaken: (reason: ServerError) => void;
  readonly #diagnostics: boolean;
  /** Undefined once it is kept. */
  #graph: string | undefined;
  /** Edition of the history that is kept. */
  #edition: number;
  /** Writes follow each other, so that the last one is the newest. */
  #tail: Promise<unknown> = Promise.resolve();

  constructor(
    kept: KeptSession,
    onTaken: (reason: ServerError) => void,
    agent: { number: number; graph: string | undefined; diagnostics: boolean; isKept: boolean },
  ) {
    this.#kept = kept;
    this.#onTaken = onTaken;
    this.number = agent.number;
    this.#graph = agent.graph;
    this.#diagnostics = agent.diagnostics;
    this.#edition = agent.isKept ? firstEdition : -1;
  }

  keep(history: AgentHistory): Promise<ServerError | undefined> {
    const kept = this.#tail.then(() => this.#keep(history));
    this.#tail = kept;
    return kept;
  }

  async drop(): Promise<void> {
    await this.#tail;
    await this.#kept.drop(this.number);
  }

  async #keep({ edition, turns }: AgentHistory): Promise<ServerError | undefined> {
    if (edition === this.#edition) return undefined;
    const { number } = this;
    try {
      await this.#kept.keep({ number, graph: this.#graph, diagnostics: this.#diagnostics, turns });
      this.#graph = undefined;
      this.#edition = edition;
      return undefined;
    } catch (error) {
      // A turn is answered whatever happens here.
      const told = toServerError(error);
      if (told.code === takenCode) this.#onTaken(told);
      return told;
    }
  }
}

/** The JSON of a graph; undefined for one that remembers: its memory is on the server's disk, and its secret is kept nowhere. */
function keptGraph(graph: Graph): string | undefined {
  return graph.nodes.some(({ type }) => type === 'remember') ? undefined : JSON.stringify(graph);
}

/** Returns the history of a kept agent. @throws SessionNotKept if it cannot be read */
export async function keptHistory({ turns, number }: KeptAgent): Promise<History> {
  const parsed = await mapInSlices(turns, (turn) => JSON.parse(turn) as unknown, 1);
  const history = historySchema.safeParse({ version: historyVersion, turns: parsed });
  if (history.success) return history.data;
  throw serverError(2017, `resume: the history of the kept agent ${number} cannot be read`, {});
}
