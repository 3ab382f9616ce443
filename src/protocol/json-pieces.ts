import { stringifyWithWideIntegers } from '../base/schema/wide-integers.js';

/** Approximate characters per piece: well under a millisecond to write. */
const pieceLength = 32 * 1024;

/** Estimates whether a value's JSON is longer than one piece. Examines no more than that. */
export function isLong(value: unknown): boolean {
  return roomAfter(value, pieceLength) < 0;
}

/** Yields the result of JSON.stringify in pieces. Each takes a short time. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (typeof value === 'string' && isLong(value)) {
    yield* stringPieces(value);
  } else if (!isLong(value) || typeof value !== 'object' || value === null) {
    yield textOf(value);
  } else if (Array.isArray(value)) {
    let before = '[';
    for (const item of value) {
      yield before;
      yield* jsonPieces(item);
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  } else {
    let before = '{';
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* jsonPieces(field);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  }
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    // BigInts, or a circle, which fails again.
    if (error instanceof TypeError) return stringifyWithWideIntegers(value);
    throw error;
  }
}

function* stringPieces(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length; ) {
    const next = text.charCodeAt(at + pieceLength);
    // A pair of surrogates stays together: alone, each would be escaped.
    const splits = next >= 0xdc00 && next <= 0xdfff;
    const end = at + pieceLength + (splits ? 1 : 0);
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}

/** Estimates how many of `room` characters remain after a value. Stops below 0. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length - 2;
  if (typeof value !== 'object' || value === null) return room - 8;
  let left = room - 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (left < 0) break;
      left = roomAfter(item, left);
    }
    return left;
  }
  for (const key in value) {
    if (left < 0) break;
    left = roomAfter((value as Record<string, unknown>)[key], left - key.length - 4);
  }
  return left;
}
