import { setMaxListeners } from 'node:events';

/**
 * Calls `listener` when the signal, if there is one, is aborted. Returns a function that removes it. Any number of callers may
 * share a signal: none of the listeners stays, so Node's leak warning (from the eleventh on) is switched off.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
  signal?.addEventListener('abort', listener, { once: true });
  return () => signal?.removeEventListener('abort', listener);
}
