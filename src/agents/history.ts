import type { Holding } from '../limits/client-memory.js';
import { historyTurnBytes } from '../limits/estimates.js';
import { fail, ServerError } from '../protocol/errors.js';
import { type History, type HistoryTurn, historyVersion } from '../protocol/history.js';

interface Remembered {
  readonly turn: HistoryTurn;
  /** Bytes in the heap. */
  readonly heap: number;
}

/**
 * An agent's latest turns, oldest first. They count against the client's memory; if they do not fit, the oldest are
 * forgotten.
 */
export class AgentHistory {
  readonly #most: number;
  readonly #memory: Holding;
  #remembered: readonly Remembered[] = [];
  #forgotten = 0;

  /**
   * `most`: number of turns kept; `earlier`: turns that the client brought.
   * @throws ClientMemoryExceeded, ServerMemoryExceeded if those do not fit
   */
  constructor(most: number, memory: Holding, earlier: readonly HistoryTurn[] = []) {
    this.#most = most;
    this.#memory = memory;
    const kept = most === 0 ? [] : earlier.slice(-most).map(remember);
    memory.add({ heap: heapOf(kept) }, 'history: the agent is not made');
    this.#remembered = kept;
  }

  /** The turns at this time. */
  get turns(): readonly HistoryTurn[] {
    return this.#remembered.map(({ turn }) => turn);
  }

  /** Number of turns forgotten because the client's memory budget was full. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** @throws InvalidField for the result of an action that the last turn did not ask for */
  checkResult(actionResult: unknown): void {
    if (actionResult === undefined || this.#remembered.at(-1)?.turn.action !== undefined) return;
    const problem = 'the turn before this one asked for no action; leave the field out';
    fail(1004, `action_result: ${problem}`, { path: 'action_result' });
  }

  /** Remembers a turn. */
  add(turn: HistoryTurn): void {
    if (this.#most === 0) return;
    const all = [...this.#remembered, remember(turn)];
    let kept = all.slice(-this.#most);
    while (kept.length > 0 && !this.#fits(heapOf(kept))) kept = kept.slice(1);
    this.#memory.settle({ heap: heapOf(kept) });
    this.#forgotten += Math.min(all.length, this.#most) - kept.length;
    this.#remembered = kept;
  }

  export(): History {
    return { version: historyVersion, turns: [...this.turns] };
  }

  release(): void {
    this.#memory.release();
    this.#remembered = [];
  }

  /** Whether turns of this size may replace those held. */
  #fits(heap: number): boolean {
    const more = heap - heapOf(this.#remembered);
    if (more <= 0) return true;
    try {
      this.#memory.add({ heap: more }, 'the turn is not remembered');
      return true;
    } catch (error) {
      if (error instanceof ServerError) return false;
      throw error;
    }
  }
}

function remember(turn: HistoryTurn): Remembered {
  return { turn, heap: historyTurnBytes(turn).heap };
}

function heapOf(remembered: readonly Remembered[]): number {
  return remembered.reduce((sum, { heap }) => sum + heap, 0);
}
