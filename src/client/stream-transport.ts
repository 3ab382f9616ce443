import type { Duplex } from 'node:stream';
import { FrameDecoder, frameKind } from '../protocol/decoder.js';
import { encodeFrame, frameHeader } from '../protocol/encoder.js';
import type { Transport, TransportListener } from './transport.js';

/** Upper bound of `max_frame_mb`; a server with a lower limit reports it. */
export const maxFrameBytes = 1024 ** 3;

/** Refuses bytes that are not UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Frames over a stream of bytes, such as a socket. */
export class StreamTransport implements Transport {
  readonly #stream: Duplex;
  readonly #decoder = new FrameDecoder(maxFrameBytes);
  readonly closed: Promise<void>;

  constructor(stream: Duplex) {
    this.#stream = stream;
    this.closed = new Promise((resolve) => stream.once('close', () => resolve()));
  }

  listen(listener: TransportListener): void {
    this.#stream.on('data', (chunk: Buffer) => this.#read(chunk, listener));
    this.#stream.on('error', (error) => listener.lost(`the connection failed: ${error.message}`, error));
    this.#stream.on('close', () => listener.lost('the connection was closed'));
  }

  send(frame: object): void {
    this.#stream.write(encodeFrame(frame, maxFrameBytes));
  }

  sendBinary(payload: Uint8Array): void {
    this.#stream.cork();
    this.#stream.write(frameHeader(frameKind.binary, payload.length));
    this.#stream.write(payload);
    this.#stream.uncork();
  }

  end(): void {
    this.#stream.end(() => this.#stream.destroy());
  }

  destroy(): void {
    this.#stream.destroy();
  }

  #read(chunk: Buffer, listener: TransportListener): void {
    try {
      this.#decoder.push(chunk);
      for (let frame = this.#decoder.next(); frame !== undefined; frame = this.#decoder.next())
        listener.frame(utf8.decode(frame.payload));
    } catch (error) {
      listener.lost('the server sent something that is not a frame', error);
      this.destroy();
    }
  }
}
