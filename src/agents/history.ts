import { countValues } from '../base/schema/bounded.js';
import type { Holding } from '../fairness/client-memory.js';
import { historyTurnBytes } from '../fairness/estimates.js';
import { fail, ServerError } from '../protocol/errors.js';
import { type History, type HistoryTurn, historyVersion, maxHistoryValues } from '../protocol/history.js';
import type { ForgottenTexts } from './forgotten-texts.js';
import { textPrefix } from './text-prefix.js';

/** Edition of a history that has only the turns that the client brought. */
export const firstEdition = 0;

/** Keeps the history of an agent where it outlives the server. */
export interface HistoryKeeper {
  /** Its number among the kept agents of the session. */
  readonly number: number;
  /** Keeps the history, unless it is kept as it is. Returns why it was not kept. */
  keep(history: AgentHistory): Promise<ServerError | undefined>;
  /** Keeps nothing of the agent any more. @throws SessionTaken, SessionNotKept */
  drop(): Promise<void>;
}

interface Remembered {
  /** Id of the turn; undefined for one that the client brought. */
  readonly id: string | undefined;
  readonly turn: HistoryTurn;
  /** Bytes in the heap. */
  readonly heap: number;
  readonly values: number;
}

/**
 * An agent's latest turns, oldest first. They count against the client's memory; if they do not fit, the oldest are
 * forgotten.
 */
export class AgentHistory {
  readonly #most: number;
  readonly #memory: Holding;
  readonly #remembered: Remembered[] = [];
  /** Bytes of all remembered turns. */
  #heap = 0;
  #values = 0;
  #forgotten = 0;
  #edition = firstEdition;
  /** Whether the latest turn, remembered or not, asked for an action. */
  #asked: boolean;

  /**
   * `most`: number of turns kept; `earlier`: turns that the client brought.
   * @throws ClientMemoryExceeded, ServerMemoryExceeded if those do not fit
   */
  constructor(most: number, memory: Holding, earlier: readonly HistoryTurn[] = []) {
    this.#most = most;
    this.#memory = memory;
    this.#asked = earlier.at(-1)?.action !== undefined;
    for (const turn of most === 0 ? [] : earlier.slice(-most)) this.#push(remember(undefined, turn));
    if (most > 0) this.#forgotten = earlier.length - this.#remembered.length;
    memory.add({ heap: this.#heap }, 'history: the agent was not created');
  }

  /** The turns at this time. */
  get turns(): readonly HistoryTurn[] {
    return this.#remembered.map(({ turn }) => turn);
  }

  /** Changes with the turns. */
  get edition(): number {
    return this.#edition;
  }

  /** Number of turns forgotten: more than are kept, or than the client's memory budget holds. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Bytes of all turns in the heap. */
  get heap(): number {
    return this.#heap;
  }

  /** @throws InvalidField for the result of an action that the last turn did not ask for */
  checkResult(actionResult: unknown): void {
    if (actionResult === undefined || this.#asked) return;
    const problem = 'the turn before this one asked for no action; leave the field out';
    fail(1004, `action_result: ${problem}`, { path: 'action_result' });
  }

  /** Remembers a turn. */
  add(id: string, turn: HistoryTurn): void {
    this.#asked = turn.action !== undefined;
    if (this.#most === 0) return;
    this.#edition++;
    const next = remember(id, turn);
    const held = this.#heap;
    while (this.#remembered.length >= this.#most) this.#forget();
    // An exported history can be restored.
    while (this.#remembered.length > 0 && this.#values + next.values > maxHistoryValues) this.#forget();
    const room = held + this.#room(this.#heap + next.heap - held);
    while (this.#remembered.length > 0 && this.#heap + next.heap > room) this.#forget();
    const isSmall = next.values <= maxHistoryValues && this.#heap + next.heap <= room;
    if (isSmall) this.#push(next);
    else this.#forgotten++;
    this.#memory.settle({ heap: this.#heap });
  }

  export(): History {
    return { version: historyVersion, turns: [...this.turns] };
  }

  /** The user heard only the first `characters` of the reply of a turn: the rest was not said. Returns whether it is remembered. */
  heard(id: string, characters: number): boolean {
    const place = this.#remembered.findIndex((each) => each.id === id);
    const before = this.#remembered[place];
    if (before === undefined) return false;
    const { turn } = before;
    if (characters >= turn.reply.length) return true;
    const after = remember(id, { ...turn, reply: textPrefix(turn.reply, characters), interrupted: true });
    this.#remembered[place] = after;
    this.#edition++;
    this.#heap += after.heap - before.heap;
    this.#values += after.values - before.values;
    this.#memory.settle({ heap: this.#heap });
    return true;
  }

  /** Returns the numbers of the turns that quote one of these texts, from 1. `remove`: removes these turns. */
  async quoting(texts: ForgottenTexts, remove: boolean): Promise<number[]> {
    const quoting = new Set<Remembered>();
    for (const each of [...this.#remembered]) if (await texts.quotedByJsonOf(each.turn)) quoting.add(each);
    // Turns may have ended meanwhile.
    const first = this.#forgotten + 1;
    const found = this.#remembered.flatMap((each, index) => (quoting.has(each) ? [first + index] : []));
    if (!remove || found.length === 0) return found;
    const kept = this.#remembered.filter((each) => !quoting.has(each));
    this.#remembered.length = 0;
    this.#heap = this.#values = 0;
    for (const each of kept) this.#push(each);
    this.#forgotten += found.length;
    this.#edition++;
    this.#memory.settle({ heap: this.#heap });
    return found;
  }

  release(): void {
    this.#memory.release();
    this.#remembered.length = 0;
    this.#heap = 0;
    this.#values = 0;
  }

  #push(turn: Remembered): void {
    this.#remembered.push(turn);
    this.#heap += turn.heap;
    this.#values += turn.values;
  }

  #forget(): void {
    this.#shift();
    this.#forgotten++;
  }

  #shift(): void {
    const { heap, values } = this.#remembered.shift() as Remembered;
    this.#heap -= heap;
    this.#values -= values;
  }

  /** Takes `heap` more bytes if the budget has them. Returns how many more may be held: `heap`, or none. */
  #room(heap: number): number {
    if (heap <= 0) return 0;
    try {
      this.#memory.add({ heap }, 'the turn is not remembered');
      return heap;
    } catch (error) {
      if (error instanceof ServerError) return 0;
      throw error;
    }
  }
}

function remember(id: string | undefined, turn: HistoryTurn): Remembered {
  return { id, turn, heap: historyTurnBytes(turn).heap, values: countValues(turn, maxHistoryValues).values };
}
