import { onAbort } from '../../../lib/basics.js';
import type { ServerContext } from './sdk.js';

/** The parts of a request that waiting for its answer needs. */
export type WaitingRequest = Pick<ServerContext['mcpReq'], 'signal' | '_meta' | 'notify'>;

/** Interval of the progress notifications, in ms: hosts give a request up that is silent for a minute. */
const everyMs = 1000;

/**
 * Waits for work that goes on without the waiter, and notifies a client that asks for progress. @throws as the work; the
 * signal's reason
 */
export function waited<T>(
  work: Promise<T>,
  { signal, _meta, notify }: WaitingRequest,
  message: string,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const progressToken = _meta?.progressToken;
    let progress = 0;
    const timer = setInterval(() => {
      if (progressToken === undefined) return;
      const params = { progressToken, progress: ++progress, message };
      notify({ method: 'notifications/progress', params }).catch(() => {});
    }, everyMs);
    const stop = onAbort(signal, () => {
      clearInterval(timer);
      reject(signal.reason);
    });
    work.then(resolve, reject).finally(() => {
      clearInterval(timer);
      stop();
    });
  });
}
