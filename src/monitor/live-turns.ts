import type { TurnRecord } from './turn-ring.js';

const gatherMs = 100;
/** Most turns of such a time. */
const mostShown = 50;

/**
 * Hands over finished turns ten times a second, so that a page costs a loaded server little. Of many turns it hands over the
 * failed and the slowest ones.
 */
export class LiveTurns {
  readonly #show: (turns: readonly TurnRecord[]) => void;
  #gathered: TurnRecord[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(show: (turns: readonly TurnRecord[]) => void) {
    this.#show = show;
  }

  add(turn: TurnRecord): void {
    this.#gathered.push(turn);
    // Bounded, too, while the event loop is blocked.
    if (this.#gathered.length >= 4 * mostShown) this.#gathered = worthShowing(this.#gathered);
    this.#timer ??= setTimeout(() => this.flush(), gatherMs).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const turns = worthShowing(this.#gathered);
    this.#gathered = [];
    if (turns.length > 0) this.#show(turns);
  }
}

function worthShowing(turns: TurnRecord[]): TurnRecord[] {
  if (turns.length <= mostShown) return turns;
  const rank = ({ status, queuedMs, durationMs }: TurnRecord) =>
    status === 'failed' ? Number.POSITIVE_INFINITY : queuedMs + durationMs;
  return turns
    .toSorted((a, b) => rank(b) - rank(a) || b.seq - a.seq)
    .slice(0, mostShown)
    .toSorted((a, b) => a.seq - b.seq);
}
