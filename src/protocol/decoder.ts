import { fail } from './errors.js';
import { PayloadBlocks } from './payload-blocks.js';

/** Bytes before every payload: kind, then the payload's length as an unsigned big-endian integer. */
export const headerBytes = 5;

export const frameKind = { json: 1, binary: 2 } as const;

export interface WireFrame {
  kind: number;
  /** The content; for a skipped frame, its beginning. */
  payload: Buffer;
  /** Bytes of the payload as sent. */
  length: number;
}

const knownKinds: ReadonlySet<number> = new Set(Object.values(frameKind));

/** Most bytes of a short frame's payload: it takes some 0.02 ms to parse and to check. */
const shortPayload = 1024;

/** Bytes of a skipped payload that are kept, because they may name the request. */
const keptOfSkipped = 4096;

/** A payload that is dropped. */
interface Skipped {
  beginning: Buffer;
  toDrop: number;
}

const never = () => false;

/**
 * Splits a byte stream into frames. Pull-driven, so that the caller may stop between frames: push() received bytes, then
 * call next() until it returns undefined. Holds little more than the bytes received and not yet returned; an announced length
 * allocates nothing.
 */
export class FrameDecoder {
  readonly #maxPayloadBytes: number;
  readonly #input: Buffer[] = [];
  #inputBytes = 0;
  /** Bytes of #input[0] that have been consumed. */
  #consumed = 0;
  readonly #header = Buffer.alloc(headerBytes);
  #headerFill = 0;
  #payload: PayloadBlocks | undefined;
  #skipped: Skipped | undefined;

  constructor(maxPayloadBytes: number) {
    this.#maxPayloadBytes = maxPayloadBytes;
  }

  /** Whether a frame is incomplete. Meaningful after next() returned undefined. */
  get midFrame(): boolean {
    return this.#headerFill > 0;
  }

  /** Bytes allocated for pushed, not yet returned input and for the current payload. */
  get heldBytes(): number {
    return this.#inputBytes + (this.#payload?.heldBytes ?? 0);
  }

  /** Whether a complete payload is being joined: next() should be called again without further input. */
  get joining(): boolean {
    return this.#payload !== undefined && this.#payload.bytes === this.announcedBytes;
  }

  /** Whether the next frame is complete, in one piece, and audio or of at most `shortPayload` bytes. */
  get holdsShortFrame(): boolean {
    const first = this.#input[0];
    if (first === undefined || this.#headerFill > 0) return false;
    const held = first.length - this.#consumed - headerBytes;
    if (held < 0) return false;
    // Audio is only copied: what follows it does not wait for a slice.
    const most = first.readUInt8(this.#consumed) === frameKind.binary ? held : shortPayload;
    return first.readUInt32BE(this.#consumed + 1) <= Math.min(held, most);
  }

  /** Length of the current payload according to its header; 0 between frames. */
  get announcedBytes(): number {
    return this.#headerFill === headerBytes ? this.#header.readUInt32BE(1) : 0;
  }

  /** Kind of the current frame; undefined between frames. */
  get announcedKind(): number | undefined {
    return this.#headerFill > 0 ? this.#header.readUInt8(0) : undefined;
  }

  /** Bytes pushed and not yet examined. */
  get waitingBytes(): number {
    return this.#inputBytes - this.#consumed;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#input.push(chunk);
    this.#inputBytes += chunk.length;
  }

  /** Drops the rest of the current payload as it arrives. next() then returns the frame with the beginning of its payload. */
  skip(): void {
    if (this.#headerFill < headerBytes || this.#skipped !== undefined) return;
    const arrived = this.#payload?.bytes ?? 0;
    const beginning = this.#payload?.beginning(keptOfSkipped) ?? Buffer.alloc(0);
    this.#skipped = { beginning, toDrop: this.announcedBytes - arrived };
    this.#dropPayloadBlocks();
  }

  /** Drops all input. The decoder cannot be used afterwards. */
  clear(): void {
    this.#input.length = 0;
    this.#inputBytes = 0;
    this.#consumed = 0;
    this.#dropPayloadBlocks();
  }

  #dropPayloadBlocks(): void {
    this.#payload?.drop();
    this.#payload = undefined;
  }

  /**
   * Returns the next complete frame, or undefined until more arrives. The payload may share memory with a pushed chunk. Once
   * `isDue()`, a long payload is left for the next call.
   * @throws MalformedFrame (unknown kind), FrameTooLarge. Framing is then lost, and the decoder cannot be used afterwards.
   */
  next(isDue: () => boolean = never): WireFrame | undefined {
    if (!this.#fillHeader()) return undefined;
    const length = this.#header.readUInt32BE(1);
    const payload =
      this.#skipped === undefined ? this.#takePayload(length, isDue) : this.#dropPayload(this.#skipped);
    if (payload === undefined) return undefined;
    this.#headerFill = 0;
    this.#payload = undefined;
    this.#skipped = undefined;
    return { kind: this.#header.readUInt8(0), payload, length };
  }

  #fillHeader(): boolean {
    while (this.#headerFill < headerBytes) {
      const piece = this.#take(headerBytes - this.#headerFill);
      if (piece === undefined) return false;
      piece.copy(this.#header, this.#headerFill);
      this.#headerFill += piece.length;
      this.#checkHeader();
    }
    return true;
  }

  #checkHeader(): void {
    const kind = this.#header.readUInt8(0);
    if (!knownKinds.has(kind)) {
      const closed = 'the connection is closed because framing is lost';
      fail(1001, `frame kind ${kind}: 1 (JSON) is expected; ${closed}`, { kind });
    }
    if (this.#headerFill < headerBytes) return;
    const length = this.#header.readUInt32BE(1);
    const limit = this.#maxPayloadBytes;
    if (length > limit) {
      const message = `a frame of ${length} bytes is over the limit of ${limit}; the connection is closed`;
      fail(1003, message, { length, limit });
    }
  }

  #takePayload(length: number, isDue: () => boolean): Buffer | undefined {
    if (this.#payload === undefined) {
      const first = this.#input[0];
      if (length === 0 || (first !== undefined && first.length - this.#consumed >= length)) {
        return this.#take(length) ?? Buffer.alloc(0);
      }
    }
    this.#payload ??= new PayloadBlocks(length);
    while (this.#payload.bytes < length) {
      const piece = this.#take(length - this.#payload.bytes);
      if (piece === undefined) return undefined;
      this.#payload.add(piece);
    }
    return this.#payload.join(isDue);
  }

  /** Drops the received bytes. At the end of the payload, returns its beginning. */
  #dropPayload(skipped: Skipped): Buffer | undefined {
    while (skipped.toDrop > 0) {
      const piece = this.#take(skipped.toDrop);
      if (piece === undefined) return undefined;
      skipped.toDrop -= piece.length;
      const kept = piece.subarray(0, keptOfSkipped - skipped.beginning.length);
      if (kept.length > 0) skipped.beginning = Buffer.concat([skipped.beginning, kept]);
    }
    return skipped.beginning;
  }

  /** Removes up to `most` bytes from the front of the input; undefined if it is empty. */
  #take(most: number): Buffer | undefined {
    const first = this.#input[0];
    if (first === undefined || most === 0) return undefined;
    const end = Math.min(first.length, this.#consumed + most);
    const piece = first.subarray(this.#consumed, end);
    this.#consumed = end;
    if (end === first.length) {
      this.#input.shift();
      this.#inputBytes -= first.length;
      this.#consumed = 0;
    }
    return piece;
  }
}
