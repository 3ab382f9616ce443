/** A slice of the event loop, or the work between two looks at its timers. */
export interface LoopStep {
  /** Processor time in ms. The garbage collector may report later that a part of it was its own. */
  used: number;
}

/** A slice that took too long. */
export interface LongSlice {
  /** The requests that it served. */
  readonly where: string;
  readonly ms: number;
}

/** Requests that are named, of one slice. */
const maxNames = 8;
/** Slices that are remembered. */
const maxFound = 64;

/**
 * Finds slices of the event loop that take too long. Off unless somebody sets a limit: tests, the reliability campaign, and
 * development editions on request. One for the process: requests do not know their scheduler.
 */
export class SliceWatch {
  /** In ms of processor time; 0: off. */
  limitMs = 0;
  #names: string[] = [];
  #recent: string[] = [];
  readonly #found: { where: string; step: LoopStep }[] = [];

  /** The running slice works for this request. */
  note(request: string | undefined): void {
    if (this.limitMs === 0 || request === undefined) return;
    if (this.#names.length < maxNames) this.#names.push(request);
    if (this.#recent.length < maxNames) this.#recent.push(request);
  }

  /** The running slice has ended. */
  ended(slice: LoopStep): void {
    if (this.limitMs === 0) return;
    const names = this.#names;
    this.#names = [];
    this.found(slice, names.length > 0 ? names : ['frames']);
  }

  /** Keeps a step that is too long. */
  found(step: LoopStep, names: readonly string[]): void {
    if (step.used <= this.limitMs || this.#found.length >= maxFound) return;
    this.#found.push({ where: [...new Set(names)].join(', '), step });
  }

  /** The requests noted since the last call: some of them. */
  recent(): string[] {
    return this.#recent.splice(0);
  }

  /** Returns the slices found since the last call, without those that were long because of the garbage collector. */
  take(): LongSlice[] {
    return this.#found
      .splice(0)
      .filter(({ step }) => step.used > this.limitMs)
      .map(({ where, step }) => ({ where, ms: step.used }));
  }
}

export const sliceWatch = new SliceWatch();
