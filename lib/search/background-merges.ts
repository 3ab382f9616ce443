/** The storages whose merges wait until no throttle is set, and those whose merges run. */
const waiting = new Set<BackgroundMerges>();
const busy = new Set<BackgroundMerges>();
let throttled = false;

/** Whether background merges wait because of a throttle. */
export const mergesRest = (): boolean => throttled;

/** Stops the background merges of all storages while a throttle is set. They begin anew afterwards. */
export function restMerges(rest: boolean): void {
  if (rest === throttled) return;
  throttled = rest;
  if (rest) {
    for (const merges of busy) merges.rest();
    return;
  }
  const resumed = [...waiting];
  waiting.clear();
  for (const merges of resumed) merges.start();
}

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

  /** Resolves once none runs. */
  async done(): Promise<void> {
    await this.#running?.done;
  }

  /** Starts merging if it is due. */
  start(): void {
    if (this.#paused || this.#running !== undefined || !this.#due()) return;
    if (throttled) {
      waiting.add(this);
      return;
    }
    const stop = new AbortController();
    busy.add(this);
    const done = this.#run(stop.signal).finally(() => {
      this.#running = undefined;
      busy.delete(this);
      // The throttle may have ended while the merge was stopping.
      if (stop.signal.aborted) this.start();
    });
    this.#running = { stop, done };
  }

  /** Stops the running merge, whose work is lost, and starts none until resume(). Resolves once none runs. */
  async pause(): Promise<void> {
    this.#paused = true;
    waiting.delete(this);
    this.#running?.stop.abort();
    await this.done();
  }

  /** Stops the running merge, and starts it anew when the throttle has ended. */
  rest(): void {
    this.#running?.stop.abort();
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
