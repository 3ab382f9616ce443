/** After this long without use, what was used before counts for 1/e. */
const forgetMs = 250;

/** Time that a client has used lately, in ms; what is long ago counts for little. */
export class RecentUse {
  #used = 0;
  #at = 0;

  /** `now` and `ms` are in ms, of performance.now(). */
  add(ms: number, now: number): void {
    this.#used = this.lately(now) + ms;
    this.#at = now;
  }

  lately(now: number): number {
    return this.#used * Math.exp((this.#at - now) / forgetMs);
  }
}
