import { connect as openSocket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Where a server is: its TCP port, or the address of its WebSocket. */
export type Address = { readonly host: string; readonly port: number } | { readonly url: string };

/** Upper bound of `max_frame_mb`; a server with a lower limit reports it. */
const maxFrameBytes = 1024 ** 3;

/** An address for messages. */
export const shownAddress = (address: Address): string =>
  'url' in address ? address.url : `${address.host}:${address.port}`;

/** Begins a connection. Its failures are errors of the stream. @throws SyntaxError for an invalid URL */
export async function openTransport(address: Address): Promise<Duplex> {
  if (!('url' in address)) return openSocket({ ...address, noDelay: true });
  const [{ WebSocket }, { FrameStream }] = await Promise.all([
    import('ws'),
    import('../protocol/frame-stream.js'),
  ]);
  const socket = new WebSocket(address.url, { perMessageDeflate: false, maxPayload: maxFrameBytes });
  return new FrameStream(socket);
}
