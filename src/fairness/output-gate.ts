import { onAbort } from '../../lib/basics.js';

/**
 * Starts work with large results only while the client reads its replies: at most `producers` at a time, and none while
 * `blocked()`. Waiting work is admitted in order.
 */
export class OutputGate {
  readonly #producers: number;
  readonly #blocked: () => boolean;
  readonly #waiting = new Set<() => void>();
  #producing = 0;

  constructor(producers: number, blocked: () => boolean) {
    this.#producers = producers;
    this.#blocked = blocked;
  }

  /** Resolves with a function to call when the results are sent. @throws the signal's reason */
  enter(signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const admit = () => {
        stopListening();
        resolve(this.#place());
      };
      const stopListening = onAbort(signal, () => {
        this.#waiting.delete(admit);
        reject(signal.reason);
      });
      this.#waiting.add(admit);
      this.admit();
    });
  }

  /** Call this when `blocked()` may have become false. */
  admit(): void {
    for (const admit of this.#waiting) {
      if (this.#producing >= this.#producers || this.#blocked()) return;
      this.#waiting.delete(admit);
      this.#producing++;
      admit();
    }
  }

  #place(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#producing--;
      this.admit();
    };
  }
}
