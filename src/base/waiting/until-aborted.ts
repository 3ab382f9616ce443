import { onAbort } from '../../../lib/basics.js';

/**
 * Waits for a shared promise. Rejects with the signal's reason as soon as the signal is aborted; the shared work
 * continues.
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stopListening = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stopListening = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stopListening();
  }
}
