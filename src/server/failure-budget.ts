export interface FailureRate {
  /** Failures at once. */
  burst: number;
  /** Failures per second after that. */
  perSecond: number;
}

interface Budget {
  left: number;
  /** When that was so, in ms. */
  at: number;
}

/** Keys that are remembered; the one unused for the longest time is forgotten first. */
const maxKeys = 4096;

/** The failures that each key has left: a bucket that fills up again with time. */
export class FailureBudget {
  readonly #rate: FailureRate;
  readonly #now: () => number;
  readonly #budgets = new Map<string, Budget>();

  constructor(rate: FailureRate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
  }

  /** Milliseconds until the key may fail again; 0: it may. */
  waitMs(key: string): number {
    const { left } = this.#budget(key);
    return left >= 1 ? 0 : Math.ceil(((1 - left) / this.#rate.perSecond) * 1000);
  }

  /** Takes a failure from the key's budget. */
  fail(key: string): void {
    const { left, at } = this.#budget(key);
    this.#budgets.delete(key);
    this.#budgets.set(key, { left: left - 1, at });
    const [oldest] = this.#budgets.keys();
    if (this.#budgets.size > maxKeys && oldest !== undefined) this.#budgets.delete(oldest);
  }

  #budget(key: string): Budget {
    const { burst, perSecond } = this.#rate;
    const at = this.#now();
    const known = this.#budgets.get(key);
    if (known === undefined) return { left: burst, at };
    return { left: Math.min(burst, known.left + ((at - known.at) / 1000) * perSecond), at };
  }
}
