import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';

/** One client's turns on the event loop; a slice is the work of one turn. */
export interface LoopTurns {
  /** Resolves when the client may use the event loop. The client is charged for the time until the next `await` of slow work. */
  turn(): Promise<void>;
  /** How long the client may work before it waits for its next turn, in ms. */
  readonly sliceMs: number;
}

const current = new AsyncLocalStorage<LoopTurns>();

/** Runs the work of a client's request: loopTurn() in it waits for that client's turn. */
export function withLoopTurns<T>(turns: LoopTurns, work: () => T): T {
  return current.run(turns, work);
}

/**
 * To be awaited before each step of work that holds the event loop for a millisecond or so: resolves when it is the turn of the
 * client whose request this is. Outside of requests: in the next turn of the event loop.
 */
export function loopTurn(): Promise<void> {
  return current.getStore()?.turn() ?? nextTurnOfLoop();
}

/** Items converted between two readings of the clock, by default. */
const usualGrain = 64;

/** Time in ms that mapInSlices() works outside of requests before it waits for the next turn. */
const usualSliceMs = 0.5;

const nextSliceEnd = () => performance.now() + (current.getStore()?.sliceMs ?? usualSliceMs);

/**
 * Like Array.map(), but converts a long list in slices, each in a turn of the client. `grain`: items between two readings of
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
      await loopTurn();
      due = nextSliceEnd();
    }
    converted.push(convert(item, at));
  }
  return converted;
}
