import { stringifyWithWideIntegers } from '../base/schema/wide-integers.js';
import { frameKind, headerBytes } from './decoder.js';
import { fail } from './errors.js';

/** Encodes a JSON frame, header and payload in one buffer. @throws FrameTooLarge */
export function encodeFrame(frame: object, maxPayloadBytes: number): Buffer {
  const text = stringify(frame, maxPayloadBytes);
  const length = Buffer.byteLength(text);
  if (length > maxPayloadBytes) refuseLength(length, maxPayloadBytes);
  const buffer = Buffer.allocUnsafe(headerBytes + length);
  writeHeader(buffer, frameKind.json, length);
  buffer.write(text, headerBytes);
  return buffer;
}

/** Returns the header for a payload. */
export function frameHeader(kind: number, length: number): Buffer {
  const header = Buffer.allocUnsafe(headerBytes);
  writeHeader(header, kind, length);
  return header;
}

function writeHeader(buffer: Buffer, kind: number, length: number): void {
  buffer.writeUInt8(kind, 0);
  buffer.writeUInt32BE(length, 1);
}

/** @throws FrameTooLarge for a payload of at least `length` bytes */
export function refuseLength(length: number, limit: number): never {
  fail(1003, `a frame of ${length} bytes is over the limit of ${limit}: ask for less at a time`, {
    length,
    limit,
  });
}

function stringify(frame: object, limit: number): string {
  try {
    return JSON.stringify(frame);
  } catch (error) {
    // BigInts, or a circle, which fails again.
    if (error instanceof TypeError) return stringifyWithWideIntegers(frame);
    if (!(error instanceof RangeError)) throw error;
    const problem = 'a frame is longer than any text can be';
    return fail(1003, `${problem}, its limit is ${limit} bytes: ask for less at a time`, { limit });
  }
}
