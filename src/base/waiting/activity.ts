/** Counts the work under way on a server, and says whether new work may start. */
export class Activity {
  #running = 0;
  #stopping = false;
  #onIdle: (() => void)[] = [];

  get running(): number {
    return this.#running;
  }

  /** Whether new work is refused. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** Registers work. Call the result when the work has ended; calling it twice is fine. */
  begin(): () => void {
    this.#running++;
    let running = true;
    return () => {
      if (!running) return;
      running = false;
      this.#running--;
      if (this.#running > 0) return;
      for (const resolve of this.#onIdle.splice(0)) resolve();
    };
  }

  /** Refuses new work from now on. Resolves when nothing is under way (true), or after `limitMs` (false). */
  async drain(limitMs: number): Promise<boolean> {
    this.#stopping = true;
    if (this.#running === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([new Promise<void>((resolve) => this.#onIdle.push(resolve)), late]);
    clearTimeout(timer);
    return this.#running === 0;
  }
}
