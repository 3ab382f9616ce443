/** Work that must settle before its owner may close. */
export class PendingWork {
  readonly #pending = new Set<Promise<unknown>>();

  /** Tracks a promise and returns it. Its rejection is the caller's to handle. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    const forget = () => this.#pending.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Resolves when all tracked work has settled, including work added meanwhile. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }
}
