/** The reason of a load's signal when others need the video memory: the model is loaded again, on the CPU. */
export class Displaced extends Error {
  override readonly name = 'Displaced';
}

/** Whether models may use the GPU, and the loads and unloads that run. */
export class GpuLoads {
  #allowed = true;
  #displacing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** False while others need the video memory. */
  get allowed(): boolean {
    return this.#allowed;
  }

  /** Runs a load, again if it is displaced. A displaced load fails, and its model takes no memory then. */
  async run<Model>(signal: AbortSignal, load: (signal: AbortSignal) => Promise<Model>): Promise<Model> {
    for (;;) {
      const loading = load(AbortSignal.any([signal, this.#displacing.signal]));
      this.#running.add(loading);
      try {
        return await loading;
      } catch (error) {
        if (!(error instanceof Displaced) || signal.aborted) throw error;
      } finally {
        this.#running.delete(loading);
      }
    }
  }

  /** Lets displace() wait for an unload. */
  unloading(ends: Promise<void>): void {
    this.#running.add(ends);
    ends.catch(() => {}).finally(() => this.#running.delete(ends));
  }

  /** Lets later loads use the GPU. */
  allow(): void {
    this.#allowed = true;
  }

  /** Ends the loads that may use the GPU. Resolves when they and the unloads have ended. */
  async displace(): Promise<void> {
    const running = [...this.#running];
    if (this.#allowed) {
      this.#allowed = false;
      const ending = this.#displacing;
      this.#displacing = new AbortController();
      ending.abort(new Displaced('others need the video memory'));
    }
    await Promise.allSettled(running);
  }
}
