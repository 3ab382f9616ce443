/** Calls back when something has not been used for a while. */
export class IdleTimer {
  readonly #afterMs: number;
  readonly #onIdle: () => void;
  #holds = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Starts idle, and waiting. `afterMs` 0: never calls back. The timer keeps no process alive. */
  constructor(afterMs: number, onIdle: () => void) {
    this.#afterMs = afterMs;
    this.#onIdle = onIdle;
    this.#wait();
  }

  /** Whether somebody uses it. */
  get held(): boolean {
    return this.#holds > 0;
  }

  /** It is in use until the result is called; calling that twice is fine. */
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

  /** Does not call back any more, until the next hold has ended. */
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
