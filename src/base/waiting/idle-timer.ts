/** Calls back after a period without use. */
export class IdleTimer {
  readonly #afterMs: number;
  readonly #onIdle: () => void;
  #holds = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Starts idle. With `afterMs` 0 it never calls back. The timer does not keep the process alive. */
  constructor(afterMs: number, onIdle: () => void) {
    this.#afterMs = afterMs;
    this.#onIdle = onIdle;
    this.#wait();
  }

  /** Whether it is in use. */
  get held(): boolean {
    return this.#holds > 0;
  }

  /** Number of holds. */
  get holds(): number {
    return this.#holds;
  }

  /** Marks it as in use until the result is called; calling that twice is fine. */
  hold(): () => void {
    this.#holds++;
    this.stop();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds--;
      if (this.#holds === 0) this.#wait();
    };
  }

  /** Does not call back until the next hold has ended. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(): void {
    if (this.#afterMs === 0) return;
    this.stop();
    this.#timer = setTimeout(this.#onIdle, this.#afterMs).unref();
  }
}
