import { workContext } from '../../base/waiting/work-context.js';
import type { RemoteServer } from './remote-server.js';

/**
 * Runs a call of another server. For a client of this server the call waits for the client's turn there, and holds no thread of this
 * machine meanwhile. While the server is not asked, the call fails at once. @throws the signal's reason; errors of the call
 */
export async function elsewhere<T>(
  server: RemoteServer,
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T> {
  server.check();
  const away = workContext()?.away;
  return away === undefined ? call() : away(server, signal, call);
}
