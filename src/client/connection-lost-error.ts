/** What everything that still waits for the server rejects with once the connection is gone. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError';
}
