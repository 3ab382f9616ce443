// Mutations of a file: bits flipped, numbers overwritten, a part cut off, added, zeroed or taken from another file.

const numbers = [
  0n,
  1n,
  2n,
  0x7fn,
  0x80n,
  0xffn,
  0x100n,
  0x7fffn,
  0xffffn,
  0x7fffffffn,
  0x80000000n,
  0xffffffffn,
];
const wide = [...numbers, 0x100000000n, 0x7fffffffffffffffn, 0xffffffffffffffffn];
const head = 512;

/** Pieces that stand where a text file's own were. */
const intruders = [
  ...['null', 'true', '-1', '1e999', '9007199254740993', '0.1', '""', '[]', '{}', '"\\u0000"', '"\\ud800"'],
  ...[
    '[[[[[[',
    '"__proto__":{"x":1},',
    '"id":"r0",',
    '}}',
    '"',
    '\\',
    ',',
    ':',
    '\ufeff',
    '\u2028',
    '\n',
    '\0',
  ],
  ...['../../etc/passwd', '(', '(a+)+$', '#', 'é', '\ud83d'],
];

/** @returns a mutated copy of `bytes`; `others` are files that pieces come from */
export function mutated(bytes, others, random, text) {
  let result = Buffer.from(bytes);
  for (let times = 1 + random.below(4); times > 0; times--) {
    const change = text && random.below(2) === 0 ? intrude : random.of(changes);
    result = (result.length === 0 ? extend : change)(result, random, others);
  }
  return result;
}

// Headers decide more than contents: half of the places are in the first 512 bytes.
const place = (bytes, random) =>
  random.below(random.below(2) === 0 ? Math.min(bytes.length, head) : bytes.length);

function overwrite(bytes, at, value, width) {
  for (let i = 0; i < width && at + i < bytes.length; i++)
    bytes[at + i] = Number((value >> BigInt(8 * i)) & 0xffn);
  return bytes;
}

const changes = [
  function flip(bytes, random) {
    bytes[place(bytes, random)] ^= 1 << random.below(8);
    return bytes;
  },
  function byte(bytes, random) {
    bytes[place(bytes, random)] = random.below(256);
    return bytes;
  },
  (bytes, random) => overwrite(bytes, place(bytes, random) & ~1, random.of(numbers), 2),
  (bytes, random) => overwrite(bytes, place(bytes, random) & ~3, random.of(numbers), 4),
  (bytes, random) => overwrite(bytes, place(bytes, random) & ~7, random.of(wide), 8),
  function length(bytes, random) {
    return overwrite(bytes, place(bytes, random) & ~3, BigInt(random.below(2 * bytes.length + 1)), 4);
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1)),
  extend,
  function zeroes(bytes, random) {
    const at = place(bytes, random);
    return bytes.fill(0, at, Math.min(bytes.length, at + 1 + random.below(300)));
  },
  function splice(bytes, random, others) {
    const piece = pieceOf(random.of(others), random);
    const at = place(bytes, random);
    piece.copy(bytes, at);
    return bytes;
  },
  function insert(bytes, random, others) {
    const at = place(bytes, random);
    const rest = bytes.subarray(at + random.below(32));
    return Buffer.concat([bytes.subarray(0, at), pieceOf(random.of(others), random), rest]);
  },
];

function extend(bytes, random) {
  return Buffer.concat([bytes, Buffer.alloc(1 + random.below(300), random.below(3) * 127)]);
}

function intrude(bytes, random) {
  const at = random.below(bytes.length + 1);
  const rest = bytes.subarray(Math.min(bytes.length, at + random.below(8)));
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.of(intruders)), rest]);
}

function pieceOf(bytes, random) {
  const from = random.below(bytes.length);
  return bytes.subarray(from, from + random.below(256));
}
