import type { Socket } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';

/** Returns the two ends of a connection within this process. The server's end has the parts of a socket that a connection uses. */
export function socketPair(): [own: Socket, client: Duplex] {
  // As with TCP here: an end that has read the other's end ends, too.
  const [own, client] = duplexPair({ allowHalfOpen: false });
  const nothing = () => own;
  client.once('close', () => own.destroy());
  // What was written before is read first.
  own.once('close', () => setImmediate(() => client.destroy()));
  const parts = { setNoDelay: nothing, setKeepAlive: nothing, destroySoon: () => own.end() };
  return [Object.assign(own, parts) as unknown as Socket, client];
}
