/** Work that was started and must have ended before something else may close. */
export class Background {
  readonly #pending = new Set<Promise<unknown>>();

  /** Gives the promise back; its failure stays the caller's business. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    const forget = () => this.#pending.delete(work);
    work.then(forget, forget);
    return work;
  }

  /** Resolves when all of it has settled, including what was started meanwhile. */
  async settled(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }
}
