import type { RecentTurn } from './recent-turn.js';
import type { KeptTurn } from './turn-record.js';

const gatherMs = 100;
/** Most turns of a tenth of a second. Most of a page's cost is sending them. */
export const maxShown = 10;

/** Hands over finished turns ten times a second; of too many at a time the failed and the slowest ones. */
export class LiveTurns {
  readonly #show: (turns: readonly KeptTurn[]) => void;
  readonly #turns: RecentTurn[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(show: (turns: readonly KeptTurn[]) => void) {
    this.#show = show;
  }

  added(turn: RecentTurn): void {
    this.#timer ??= setTimeout(() => this.flush(), gatherMs).unref();
    this.#turns.push(turn);
  }

  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // The older one of equal turns gives way.
    const ranked = this.#turns
      .splice(0)
      .sort((a, b) => (a.rank === b.rank ? b.seq - a.seq : b.rank - a.rank));
    this.#show(ranked.slice(0, maxShown).sort((a, b) => a.seq - b.seq));
  }
}
