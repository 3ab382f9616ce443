/** Characters of a piece, about: what takes well under a millisecond to write. */
const pieceLength = 32 * 1024;

/** Whether a value's JSON is about longer than one piece. Looks at no more than that. */
export function isLong(value: unknown): boolean {
  return roomAfter(value, pieceLength) < 0;
}

/** JSON.stringify in pieces: together they are its result, and each is made in a short time, unless one string is long. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (!isLong(value) || typeof value !== 'object' || value === null) {
    yield JSON.stringify(value) ?? 'null';
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

/** What is left of `room` characters after a value, about; less than 0 as soon as nothing is. */
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
