import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { Slices } from '../../../lib/basics.js';
import { type ClientSlices, withWorkContext, workContext } from './work-context.js';

/** Runs the work of a client: nextSlice() in it waits for that client's next slice. */
export function withSlices<T>(slices: ClientSlices, work: () => T): T {
  return withWorkContext({ ...workContext(), slices }, work);
}

/**
 * To be awaited before each step of work that holds the event loop for a millisecond or so: resolves at the next slice of the client
 * whose request this is. Outside of requests: in the next turn of the event loop.
 */
export function nextSlice(): Promise<void> {
  return workContext()?.slices?.nextSlice() ?? nextTurnOfLoop();
}

/** Begins a slice of the client whose request this is: `over` says when to await next(). */
export function clientSlices(): Slices {
  const client = workContext()?.slices;
  return new Slices(nextSlice, undefined, client && (() => client.sliceMs)).begin();
}

/** Items converted between two readings of the clock, by default. */
const usualGrain = 64;

/**
 * Like Array.map(), but converts a long list in slices of the client. `grain`: items between two readings of
 * the clock; 1 for items that may take long.
 */
export async function mapInSlices<From, To>(
  items: readonly From[],
  convert: (item: From, index: number) => To,
  grain = usualGrain,
): Promise<To[]> {
  const slices = clientSlices();
  const converted: To[] = [];
  for (const [at, item] of items.entries()) {
    if (at % grain === 0 && slices.over) await slices.next();
    converted.push(convert(item, at));
  }
  return converted;
}
