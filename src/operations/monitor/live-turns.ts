import type { RecentTurn } from './recent-turn.js';
import type { KeptTurn } from './turn-record.js';

const gatherMs = 100;
/** Most turns of a tenth of a second. Most of a page's cost is sending them. */
export const maxShown = 10;

/** Hands over finished turns ten times a second; of too many at a time the failed and the slowest ones. */
export class LiveTurns {
  readonly #show: (turns: readonly KeptTurn[]) => void;
  /** Those to hand over. */
  readonly #turns: RecentTurn[] = [];
  /** Their ranks side by side: most turns are compared with one number and touch no other turn. */
  readonly #ranks = new Float64Array(maxShown);
  /** Place of the turn that gives way, once there is no room. */
  #least = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(show: (turns: readonly KeptTurn[]) => void) {
    this.#show = show;
  }

  added(turn: RecentTurn): void {
    this.#timer ??= setTimeout(() => this.flush(), gatherMs).unref();
    if (this.#turns.length < maxShown) this.#put(this.#turns.length, turn);
    // The older one of equal turns is replaced.
    else if (turn.rank >= (this.#ranks[this.#least] as number)) this.#put(this.#least, turn);
  }

  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#show(this.#turns.splice(0).sort((a, b) => a.seq - b.seq));
  }

  #put(place: number, turn: RecentTurn): void {
    this.#turns[place] = turn;
    this.#ranks[place] = turn.rank;
    if (this.#turns.length === maxShown) this.#least = this.#minPlace();
  }

  #minPlace(): number {
    const seq = (place: number) => this.#turns[place]?.seq ?? 0;
    let least = 0;
    for (let place = 1; place < maxShown; place++) {
      const [rank, lower] = [this.#ranks[place] as number, this.#ranks[least] as number];
      if (rank < lower || (rank === lower && seq(place) < seq(least))) least = place;
    }
    return least;
  }
}
