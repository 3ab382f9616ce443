import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';

/** One client's way to the event loop. */
export interface LoopTurns {
  /** Resolves when the client may use the event loop; what runs until the next `await` of something slow counts as its use. */
  turn(): Promise<void>;
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

/** Items converted at once. More are converted in slices. */
const itemsAtOnce = 64;

/** Time in ms that mapInTurns() works before it waits for the next turn. */
const sliceMs = 0.5;

/** Like Array.map(), but converts a long list in slices, each in a turn of the client. */
export async function mapInTurns<From, To>(
  items: readonly From[],
  convert: (item: From) => To,
): Promise<To[]> {
  const converted: To[] = [];
  let due = performance.now() + sliceMs;
  for (const [at, item] of items.entries()) {
    if (at % itemsAtOnce === 0 && performance.now() >= due) {
      await loopTurn();
      due = performance.now() + sliceMs;
    }
    converted.push(convert(item));
  }
  return converted;
}
