import { frameKind, headerBytes } from './decoder.js';
import { fail } from './errors.js';

/** One JSON frame, header and payload in one buffer. @throws FrameTooLarge */
export function encodeFrame(frame: object, maxPayloadBytes: number): Buffer {
  const text = stringify(frame, maxPayloadBytes);
  const length = Buffer.byteLength(text);
  if (length > maxPayloadBytes) {
    fail(1003, `a frame of ${length} bytes is over the limit of ${maxPayloadBytes}: ask for less at a time`, {
      length,
      limit: maxPayloadBytes,
    });
  }
  const buffer = Buffer.allocUnsafe(headerBytes + length);
  buffer.writeUInt8(frameKind.json, 0);
  buffer.writeUInt32BE(length, 1);
  buffer.write(text, headerBytes);
  return buffer;
}

function stringify(frame: object, limit: number): string {
  try {
    return JSON.stringify(frame);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return fail(
      1003,
      `a frame is longer than any text can be, its limit is ${limit} bytes: ask for less at a time`,
      {
        limit,
      },
    );
  }
}
