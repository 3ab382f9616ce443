import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';

/** One client's slices of the event loop. */
export interface ClientSlices {
  /** Resolves when the client may use the event loop. The client is charged for the time until the next `await` of slow work. */
  nextSlice(): Promise<void>;
  /** How long the client may work before it waits for its next slice, in ms. */
  readonly sliceMs: number;
}

const current = new AsyncLocalStorage<ClientSlices>();

/** Runs the work of a client's request: nextSlice() in it waits for that client's next slice. */
export function withSlices<T>(slices: ClientSlices, work: () => T): T {
  return current.run(slices, work);
}

/**
 * To be awaited before each step of work that holds the event loop for a millisecond or so: resolves at the next slice of the client
 * whose request this is. Outside of requests: in the next turn of the event loop.
 */
export function nextSlice(): Promise<void> {
  return current.getStore()?.nextSlice() ?? nextTurnOfLoop();
}

/** Items converted between two readings of the clock, by default. */
const usualGrain = 64;

/** Time in ms of a slice of mapInSlices() outside of requests. */
const usualSliceMs = 0.5;

const nextSliceEnd = () => performance.now() + (current.getStore()?.sliceMs ?? usualSliceMs);

/**
 * Like Array.map(), but converts a long list in slices of the client. `grain`: items between two readings of
 * the clock; 1 for items that may take long.
 */
export async function mapInSlices<From, To>(
  items: readonly From[],
  convert: (item: From, index: number) => To,
  grain = usualGrain,
): Promise<To[]> {
  const converted: To[] = [];
  let due = nextSliceEnd();
  for (const [at, item] of items.entries()) {
    if (at % grain === 0 && performance.now() >= due) {
      await nextSlice();
      due = nextSliceEnd();
    }
    converted.push(convert(item, at));
  }
  return converted;
}
