import { AbortError } from '../boundary/errors.js';
import { onAbort } from '../boundary/on-abort.js';

interface Waiting {
  readonly rank: number;
  begin(): void;
}

/** Runs calls one after the other, the most urgent first, then in the order of their arrival. */
export class OneAtATime {
  readonly #waiting: Waiting[] = [];
  #isBusy = false;

  /** `rank`: the lowest goes first. @throws AbortError; as `work` */
  async run<T>(rank: number, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    await this.#enter(rank, signal);
    try {
      return await work();
    } finally {
      this.#isBusy = false;
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
    if (this.#isBusy) return;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#isBusy = true;
    next.begin();
  }
}
