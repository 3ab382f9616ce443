import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { FrameStream } from '../../protocol/frame-stream.js';
import type { DoorHost } from '../host.js';
import type { Upgrade } from '../http/listener.js';

/** Status of a closed WebSocket: try again later. */
const tryAgain = 1013;

/** Most pieces of the network in which an unfinished message is held: a byte for itself costs as much as a thousand. */
const maxBufferedChunks = 16_384;

/** Serves WebSockets as clients that send frames. A secret travels in the first request, never in the address. */
export function socketDoor(host: DoorHost): Upgrade {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // By itself, ws agrees to the first one that a client offers, whatever it means.
    handleProtocols: () => false,
    // The stream answers them, as fast as the client reads.
    autoPong: false,
    maxBufferedChunks,
    maxPayload: host.config.max_frame_mb * 1024 * 1024,
  });
  return (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const { remoteAddress, remotePort } = socket as Socket;
    server.handleUpgrade(request, socket, head, (opened) => {
      const stream = new FrameStream(opened, socket, remoteAddress, remotePort);
      try {
        host.serveFrames(stream, remoteAddress ?? '');
      } catch (error) {
        stream.on('error', () => {});
        opened.close(tryAgain, (error as Error).message.slice(0, 120));
      }
    });
  };
}
