import { type KeptTurn, leastKept, type TurnRing } from './turn-ring.js';

const gatherMs = 100;
/** Most turns of a tenth of a second. Most of a page's cost is sending them. */
export const mostShown = 10;

/** Hands over finished turns ten times a second; of too many at a time the failed and the slowest ones. */
export class LiveTurns {
  readonly #ring: TurnRing;
  readonly #show: (turns: readonly KeptTurn[]) => void;
  /** The latest turn that was handed over or left out. */
  #seen = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ring: TurnRing, show: (turns: readonly KeptTurn[]) => void) {
    this.#ring = ring;
    this.#show = show;
  }

  /** Call after a turn has been added. */
  added(): void {
    if (this.#timer === undefined) {
      this.#seen = this.#ring.newest - 1;
      this.#timer = setTimeout(() => this.flush(), gatherMs).unref();
    }
    // The ring keeps no more of them for certain.
    if (this.#ring.newest - this.#seen >= leastKept) this.flush();
  }

  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#show(this.#ring.worst(this.#seen, mostShown));
  }
}
