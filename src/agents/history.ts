import { countValues } from '../base/schema/bounded.js';
import type { Holding } from '../fairness/client-memory.js';
import { historyTurnBytes } from '../fairness/estimates.js';
import { fail, ServerError } from '../protocol/errors.js';
import { type History, type HistoryTurn, historyVersion, maxHistoryValues } from '../protocol/history.js';

interface Remembered {
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
    for (const turn of most === 0 ? [] : earlier.slice(-most)) this.#push(remember(turn));
    if (most > 0) this.#forgotten = earlier.length - this.#remembered.length;
    memory.add({ heap: this.#heap }, 'history: the agent was not created');
  }

  /** The turns at this time. */
  get turns(): readonly HistoryTurn[] {
    return this.#remembered.map(({ turn }) => turn);
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
  add(turn: HistoryTurn): void {
    this.#asked = turn.action !== undefined;
    if (this.#most === 0) return;
    const next = remember(turn);
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

function remember(turn: HistoryTurn): Remembered {
  return { turn, heap: historyTurnBytes(turn).heap, values: countValues(turn, maxHistoryValues).values };
}
