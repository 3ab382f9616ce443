import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { frameKind } from './decoder.js';
import { frameHeader } from './encoder.js';

/** Bytes before the payload of a frame: its kind, and its length in 32 bits. */
const headerBytes = 5;

/** Status of a closed WebSocket: this end goes away. */
const goingAway = 1001;

type Callback = (error?: Error | null) => void;

/**
 * A WebSocket as the stream of frames that a connection reads and writes: a text message is a JSON frame without its
 * header, a binary message the payload of a binary frame. Nothing may be written before the WebSocket is open.
 */
export class FrameStream extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly #socket: WebSocket;
  /** The beginning of a frame that is being written. */
  #pending: Buffer = Buffer.alloc(0);

  constructor(socket: WebSocket, address?: string, port?: number) {
    super({ allowHalfOpen: false });
    this.remoteAddress = address;
    this.remotePort = port;
    this.#socket = socket;
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      const kind = isBinary ? frameKind.binary : frameKind.json;
      this.push(frameHeader(kind, data.length));
      if (!this.push(data)) socket.pause();
    });
    socket.on('close', () => {
      this.push(null);
      this.destroy();
    });
    socket.on('error', (error) => this.destroy(error));
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, callback: Callback): void {
    this.#send([chunk], callback);
  }

  override _writev(chunks: { chunk: Buffer }[], callback: Callback): void {
    this.#send(
      chunks.map(({ chunk }) => chunk),
      callback,
    );
  }

  override _final(callback: Callback): void {
    this.#socket.close(goingAway);
    callback();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#socket.terminate();
    callback(error);
  }

  /** The transport below sends at once. */
  setNoDelay(): void {}

  /** Peers that vanish are noticed by the transport below. */
  setKeepAlive(): void {}

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /** Sends the complete frames of the bytes so far. Calls back when the socket has taken them. */
  #send(chunks: readonly Buffer[], callback: Callback): void {
    let bytes = Buffer.concat([this.#pending, ...chunks]);
    const frames: { data: Buffer; binary: boolean }[] = [];
    while (bytes.length >= headerBytes) {
      const end = headerBytes + bytes.readUInt32BE(1);
      if (bytes.length < end) break;
      frames.push({ data: bytes.subarray(headerBytes, end), binary: bytes[0] === frameKind.binary });
      bytes = bytes.subarray(end);
    }
    this.#pending = bytes;
    const last = frames.pop();
    for (const { data, binary } of frames) this.#socket.send(data, { binary });
    if (last === undefined) callback();
    else this.#socket.send(last.data, { binary: last.binary }, callback);
  }
}
