import { onAbort } from '../../../lib/basics.js';

interface Waiting {
  readonly rank: number;
  begin(): void;
}

/**
 * Runs the recognitions of one client one after the other, the most urgent first. Models serve waiting clients in turn, so a
 * client with many streams gets no more than another.
 */
export class OneAtATime {
  readonly #waiting: Waiting[] = [];
  #isBusy = false;

  /** `rank`: the lowest goes first. @throws the signal's reason; as `work` */
  async run<T>(rank: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(rank, signal);
    try {
      return await work();
    } finally {
      this.#isBusy = false;
      this.#next();
    }
  }

  #enter(rank: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
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
        reject(signal.reason);
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
