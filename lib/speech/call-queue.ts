import { AbortError } from '../boundary/errors.js';
import { onAbort } from '../boundary/on-abort.js';

interface Waiting {
  readonly rank: number;
  begin(): void;
}

/** Runs calls, the most urgent first, then in the order of their arrival, beside less urgent ones, which may rest. */
export class CallQueue {
  readonly #waiting: Waiting[] = [];
  /** Ranks of the running calls. */
  readonly #running: number[] = [];
  readonly #most: number;

  /** `most`: calls that may run beside each other if none of them is less urgent. */
  constructor(most: number) {
    this.#most = most;
  }

  /** `rank`: the lowest goes first. @throws AbortError; as `work` */
  async run<T>(rank: number, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    await this.#enter(rank, signal);
    try {
      return await work();
    } finally {
      this.#running.splice(this.#running.indexOf(rank), 1);
      this.#next();
    }
  }

  #enter(rank: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) throw new AbortError(signal.reason);
      const waiting: Waiting = {
        rank,
        begin: () => {
          stopListening();
          resolve();
        },
      };
      const stopListening = onAbort(signal, () => {
        const place = this.#waiting.indexOf(waiting);
        if (place >= 0) this.#waiting.splice(place, 1);
        reject(new AbortError(signal?.reason));
      });
      const place = this.#waiting.findIndex((other) => other.rank > rank);
      this.#waiting.splice(place < 0 ? this.#waiting.length : place, 0, waiting);
      this.#next();
    });
  }

  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#running.filter((rank) => rank <= next.rank).length >= this.#most) return;
    this.#waiting.shift();
    this.#running.push(next.rank);
    next.begin();
    this.#next();
  }
}
