/** Runs the merges of a storage in the background, one at a time. */
export class BackgroundMerges {
  readonly #due: () => boolean;
  readonly #merge: (signal: AbortSignal) => Promise<boolean>;
  #running: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;
  #paused = false;
  #failure: unknown;

  /** `merge` resolves to whether there was something to merge. */
  constructor(due: () => boolean, merge: (signal: AbortSignal) => Promise<boolean>) {
    this.#due = due;
    this.#merge = merge;
  }

  get paused(): boolean {
    return this.#paused;
  }

  get running(): boolean {
    return this.#running !== undefined;
  }

  /** Why the latest merge ended early; undefined if it did not. The next batch tries again. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Starts merging if it is due. */
  start(): void {
    if (this.#paused || this.#running !== undefined || !this.#due()) return;
    const stop = new AbortController();
    const done = this.#run(stop.signal).finally(() => {
      this.#running = undefined;
    });
    this.#running = { stop, done };
  }

  /** Stops the running merge, whose work is lost, and starts none until resume(). Resolves once none runs. */
  async pause(): Promise<void> {
    this.#paused = true;
    this.#running?.stop.abort();
    await this.#running?.done;
  }

  resume(): void {
    this.#paused = false;
    this.start();
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted && this.#due() && (await this.#merge(signal)));
      this.#failure = undefined;
    } catch (error) {
      if (!signal.aborted) this.#failure = error;
    }
  }
}
