import { connect as openSocket } from 'node:net';
import { maxFrameBytes, StreamTransport } from './stream-transport.js';
import type { Address, Transport } from './transport.js';

/** Begins a connection. Its failures are told to the listener. @throws SyntaxError for an invalid URL */
export async function openTransport(address: Address): Promise<Transport> {
  if (!('url' in address)) return new StreamTransport(openSocket({ ...address, noDelay: true }));
  const [{ WebSocket }, { FrameStream }] = await Promise.all([
    import('ws'),
    import('../protocol/frame-stream.js'),
  ]);
  const socket = new WebSocket(address.url, { perMessageDeflate: false, maxPayload: maxFrameBytes });
  return new StreamTransport(new FrameStream(socket));
}
