export interface FailureRate {
  /** Largest burst of failures. */
  burst: number;
  /** Refill, in failures per second. */
  perSecond: number;
}

interface Budget {
  left: number;
  /** Time of the last change, in ms. */
  at: number;
}

/** Maximum number of keys; the least recently used one is dropped first. */
const maxKeys = 4096;

/** Limits the failures of each key: a token bucket. */
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
