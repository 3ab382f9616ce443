import { AbortError } from './errors.js';

/** Resolves when the caller may hold the event loop again. */
export type NextSlice = () => Promise<unknown>;

/** Time in ms that work holds the event loop before it waits for the next slice, by default. */
const usualSliceMs = () => 0.5;

/** Cuts long work on the event loop into slices. */
export class Slices {
  readonly #nextSlice: NextSlice;
  readonly #signal: AbortSignal | undefined;
  readonly #sliceMs: () => number;
  /** The first slice is waited for, too, unless begin() is called. */
  #end = 0;

  constructor(nextSlice: NextSlice, signal: AbortSignal | undefined, sliceMs = usualSliceMs) {
    this.#nextSlice = nextSlice;
    this.#signal = signal;
    this.#sliceMs = sliceMs;
  }

  /** Whether next() is due. */
  get over(): boolean {
    return performance.now() >= this.#end;
  }

  /** Begins the first slice now. */
  begin(): this {
    this.#end = performance.now() + this.#sliceMs();
    return this;
  }

  /** Waits for the next slice. @throws CANCELLED */
  async next(): Promise<void> {
    await this.#nextSlice();
    if (this.#signal?.aborted) throw new AbortError(this.#signal.reason);
    this.begin();
  }

  /** Calls `use` for each item, in slices; for a few, at once. @throws CANCELLED */
  async each<Item>(items: readonly Item[], use: (item: Item, index: number) => void): Promise<void> {
    const few = items.length <= itemsAtOnce;
    for (let index = 0; index < items.length; index++) {
      if (!few && this.over) await this.next();
      use(items[index] as Item, index);
    }
  }
}

/** Items that are not worth a wait for the next slice. */
export const itemsAtOnce = 32;
