/** The work of a server: what is under way, and whether more may begin. */
export class Activity {
  #running = 0;
  #stopping = false;
  #onIdle: (() => void)[] = [];

  get running(): number {
    return this.#running;
  }

  /** Whether it takes nothing new. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** Something begins; the result is to be called when it has ended, and calling that twice is fine. */
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

  /** From now on nothing new is taken. Resolves when nothing is under way, or after `limitMs`; says whether it ended. */
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
