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
