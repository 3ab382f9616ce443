import { interruptedStatus, stopSignals } from './exit-status.js';
import { Interrupted } from './failure.js';

/**
 * Runs work that Ctrl-C aborts. The signal's reason is Interrupted, and the promise rejects with it. A second Ctrl-C ends
 * the process at once.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    const known = name as (typeof stopSignals)[number];
    if (controller.signal.aborted) process.exit(interruptedStatus[known]);
    controller.abort(new Interrupted(known));
  };
  for (const name of stopSignals) process.on(name, onSignal);
  try {
    return await work(controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    for (const name of stopSignals) process.off(name, onSignal);
  }
}

/**
 * Runs work that ends by Ctrl-C: the first one aborts `stop`, after which the work finishes what it has. The second one
 * interrupts it: `signal` is aborted, and the promise rejects with Interrupted. A third one ends the process at once.
 */
export async function untilStopped<T>(
  work: (stop: AbortSignal, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    const known = name as (typeof stopSignals)[number];
    if (controller.signal.aborted) process.exit(interruptedStatus[known]);
    if (stop.signal.aborted) controller.abort(new Interrupted(known));
    else stop.abort();
  };
  for (const name of stopSignals) process.on(name, onSignal);
  try {
    return await work(stop.signal, controller.signal);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    for (const name of stopSignals) process.off(name, onSignal);
  }
}
