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

/** Takes a step for each item in slices of the client, which count the promise callbacks of each step, too. */
export async function eachInSlices<Item>(items: readonly Item[], step: (item: Item) => void): Promise<void> {
  const slices = clientSlices();
  for (const item of items) {
    step(item);
    await new Promise<void>(afterPromiseCallbacks);
    if (slices.over) await slices.next();
  }
}

const resolved = Promise.resolve();

/** Calls back when no promise callback is pending. */
export function afterPromiseCallbacks(callback: () => void): void {
  // From a promise callback, the next tick runs after all other callbacks.
  void resolved.then(() => process.nextTick(callback));
}
