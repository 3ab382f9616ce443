import { onAbort } from '../lifecycle/on-abort.js';

interface Waiter {
  admit(): void;
}

/**
 * Lets work with large results begin only while the client reads what it asked for: at most `producers` at once, and none
 * while `blocked()`. Whoever waits is admitted in order.
 */
export class OutputGate {
  readonly #producers: number;
  readonly #blocked: () => boolean;
  readonly #waiting = new Set<Waiter>();
  #producing = 0;

  constructor(producers: number, blocked: () => boolean) {
    this.#producers = producers;
    this.#blocked = blocked;
  }

  /** Resolves with what must be called when the results are sent. @throws the signal's reason */
  enter(signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stopListening = onAbort(signal, () => {
        this.#waiting.delete(waiter);
        reject(signal.reason);
      });
      const waiter: Waiter = {
        admit: () => {
          stopListening();
          resolve(this.#place());
        },
      };
      this.#waiting.add(waiter);
      this.admit();
    });
  }

  /** To be called when `blocked()` may have become false. */
  admit(): void {
    for (const waiter of this.#waiting) {
      if (this.#producing >= this.#producers || this.#blocked()) return;
      this.#waiting.delete(waiter);
      this.#producing++;
      waiter.admit();
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
