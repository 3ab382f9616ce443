import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { frameKind } from './decoder.js';
import { frameHeader } from './encoder.js';

/** Bytes before the payload of a frame: its kind, and its length in 32 bits. */
const headerBytes = 5;

/** Status of a closed WebSocket: this end goes away. */
const goingAway = 1001;

/** Bytes of a control frame of a client besides its payload: two of the header, and the mask. */
const controlBytes = 6;

/** Bytes that a piece from the network takes besides its content. */
const pieceBytes = 256;

type Callback = (error?: Error | null) => void;

/** What goes through a WebSocket, below it. */
type Transport = Pick<Duplex, 'prependListener' | 'on' | 'writableLength'>;

/**
 * A WebSocket as the stream of frames that a connection reads and writes: a text message is a JSON frame without its
 * header, a binary message the payload of a binary frame. Nothing may be written before the WebSocket is open. Emits `unfinished`
 * with the milliseconds that it took to receive a piece of a message.
 */
export class FrameStream extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly #socket: WebSocket;
  /** The beginning of a frame that is being written. */
  #pending: Buffer = Buffer.alloc(0);
  /** Bytes since the latest message, without control frames; with them, as parts of a message keep whole pieces; and pieces. */
  #bytes = 0;
  #kept = 0;
  #pieces = 0;
  /** The content of the latest ping while an earlier answer is being sent. */
  #owedPong: Buffer | undefined;
  #isPonging = false;
  #isHeld = false;

  /** `transport`: of a server's WebSocket, which leaves pings to this. */
  constructor(socket: WebSocket, transport?: Transport, address?: string, port?: number) {
    super({ allowHalfOpen: false });
    this.remoteAddress = address;
    this.remotePort = port;
    this.#socket = socket;
    if (transport !== undefined) this.#watch(transport);
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      this.#bytes = 0;
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

  /** About as many bytes as the WebSocket holds of a message that is not complete. */
  get unfinishedBytes(): number {
    return this.#bytes === 0 ? 0 : this.#kept + this.#pieces * pieceBytes;
  }

  override _read(): void {
    if (!this.#isHeld) this.#socket.resume();
  }

  /** Stops reading also in the middle of a message, which the stream does not see yet. */
  override pause(): this {
    this.#isHeld = true;
    this.#socket.pause();
    return super.pause();
  }

  override resume(): this {
    this.#isHeld = false;
    this.#socket.resume();
    return super.resume();
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

  /** Counts what is received, and answers pings. */
  #watch(transport: Transport): void {
    let began = 0;
    transport.prependListener('data', ({ length }: Buffer) => {
      began = performance.now();
      const isFirst = this.#bytes === 0;
      this.#pieces = isFirst ? 1 : this.#pieces + 1;
      this.#kept = isFirst ? length : this.#kept + length;
      this.#bytes += length;
    });
    transport.on('data', () => this.emit('unfinished', performance.now() - began));
    const controlled = ({ length }: Buffer) => {
      this.#bytes = Math.max(0, this.#bytes - length - controlBytes);
    };
    this.#socket.on('ping', (data: Buffer) => {
      controlled(data);
      this.#pong(data);
    });
    this.#socket.on('pong', controlled);
  }

  /** Answers a ping; of several that come meanwhile, the latest. */
  #pong(data: Buffer): void {
    if (this.#isPonging) {
      this.#owedPong = data;
      return;
    }
    this.#isPonging = true;
    this.#socket.pong(data, false, () => {
      this.#isPonging = false;
      const owed = this.#owedPong;
      this.#owedPong = undefined;
      if (owed !== undefined && this.#socket.readyState === this.#socket.OPEN) this.#pong(owed);
    });
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
