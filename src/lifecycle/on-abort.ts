import { setMaxListeners } from 'node:events';

/**
 * Calls `listener` when the signal is aborted; returns what takes it away again. Any number of callers may share a signal:
 * Node's warning of a leak, from the eleventh listener on, would be wrong, because none of them stays.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
