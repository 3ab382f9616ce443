import type { FrameSocket } from '../doors/host.js';
import { frameKind } from '../protocol/decoder.js';
import { encodeFrame, frameHeader, refuseLength } from '../protocol/encoder.js';
import type { ServerFrame } from '../protocol/frames.js';
import { isLong, jsonPieces } from '../protocol/json-pieces.js';
import { errorFields, errorFrame, toServerError } from '../storages/failure.js';

/** Characters converted to bytes at once. */
const bufferedLength = 64 * 1024;

/** A long frame that is being written as JSON. */
interface Encoding {
  frame: ServerFrame;
  pieces: Iterator<string>;
  text: string;
  buffers: Buffer[];
  bytes: number;
}

export interface OutboxEvents {
  /** encode() should be called. */
  requestTime(): void;
  /** A frame went to the socket. */
  written(): void;
}

/** The frames for one client, in order. Short frames are written at once, long ones in time slices. */
export class Outbox {
  readonly #socket: FrameSocket;
  readonly #maxPayloadBytes: number;
  readonly #events: OutboxEvents;
  readonly #waiting: ServerFrame[] = [];
  #encoding: Encoding | undefined;

  constructor(socket: FrameSocket, maxPayloadBytes: number, events: OutboxEvents) {
    this.#socket = socket;
    this.#maxPayloadBytes = maxPayloadBytes;
    this.#events = events;
  }

  /** Whether a long frame waits to be written, and others after it. */
  get busy(): boolean {
    return this.#encoding !== undefined || this.#waiting.length > 0;
  }

  /** A frame above the size limit is replaced by an error. */
  send(frame: ServerFrame): void {
    if (this.busy || isLong(frame)) {
      this.#waiting.push(frame);
      this.#events.requestTime();
    } else {
      this.#write(frame);
    }
  }

  /** Writes long frames until none is left (returns false) or until `isDue()` (returns true). */
  encode(isDue: () => boolean): boolean {
    for (;;) {
      this.#encoding ??= this.#next();
      if (this.#encoding === undefined) return false;
      this.#goOn(this.#encoding);
      if (isDue()) return this.busy;
    }
  }

  /** Drops frames that were not written. */
  clear(): void {
    this.#waiting.length = 0;
    this.#encoding = undefined;
  }

  /** The next long frame; short ones before it are written. */
  #next(): Encoding | undefined {
    for (let frame = this.#waiting.shift(); frame !== undefined; frame = this.#waiting.shift()) {
      if (isLong(frame)) return { frame, pieces: jsonPieces(frame), text: '', buffers: [], bytes: 0 };
      this.#write(frame);
    }
    return undefined;
  }

  /** Makes one piece, or ends the frame. */
  #goOn(encoding: Encoding): void {
    try {
      const { value, done } = encoding.pieces.next();
      if (!done) encoding.text += value;
      if (done || encoding.text.length >= bufferedLength) this.#buffer(encoding);
      if (!done) return;
      this.#encoding = undefined;
      this.#writeAll([frameHeader(frameKind.json, encoding.bytes), ...encoding.buffers]);
    } catch (thrown) {
      this.#encoding = undefined;
      this.#replace(encoding.frame, thrown);
    }
  }

  /** @throws FrameTooLarge */
  #buffer(encoding: Encoding): void {
    const bytes = Buffer.from(encoding.text);
    encoding.text = '';
    encoding.buffers.push(bytes);
    encoding.bytes += bytes.length;
    if (encoding.bytes > this.#maxPayloadBytes) refuseLength(encoding.bytes, this.#maxPayloadBytes);
  }

  #write(frame: ServerFrame): void {
    try {
      this.#writeAll([encodeFrame(frame, this.#maxPayloadBytes)]);
    } catch (thrown) {
      this.#replace(frame, thrown);
    }
  }

  #writeAll(buffers: readonly Buffer[]): void {
    if (!this.#socket.writable) return;
    this.#socket.cork();
    for (const buffer of buffers) this.#socket.write(buffer);
    this.#socket.uncork();
    this.#events.written();
  }

  /** Every request has a reply and every turn a TurnComplete, if only to say that it was too large. */
  #replace(frame: ServerFrame, thrown: unknown): void {
    const error = toServerError(thrown);
    if (frame.type === 'TurnComplete') {
      this.#write({
        type: 'TurnComplete',
        turn_id: frame.turn_id,
        status: 'failed',
        text: '',
        error: errorFields(error),
      });
    } else if ('reply_to' in frame) {
      this.#write({ ...errorFrame(error), reply_to: frame.reply_to });
    }
  }
}
