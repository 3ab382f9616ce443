import { type CodePoints, complementOf, unionOf } from './languages/code-points.js';

/** Sets that were looked up, by name; the oldest go first. */
const known = new Map<string, CodePoints>();
const maxKnown = 64;

/** Larger parts in which Unicode up to `unassignedUpTo` has no character; later versions look at each code point. */
const unassignedUpTo = 17;
const unassigned: CodePoints =
  Number.parseFloat(process.versions.unicode ?? '') > unassignedUpTo
    ? []
    : [
        [0x12544, 0x12f8f],
        [0x14647, 0x160ff],
        [0x1613a, 0x167ff],
        [0x18df3, 0x1afef],
        [0x1b2fc, 0x1bbff],
        [0x1bca4, 0x1cbff],
        [0x1dab0, 0x1deff],
        [0x1fc00, 0x1fffd],
        [0x2ee5e, 0x2f7ff],
        [0x2fa1e, 0x2fffd],
        [0x3347a, 0x3fffd],
      ];

/**
 * Parts whose code points have the same properties, those of the first one: ideographs, syllables, hieroglyphs, private use, and what
 * is not assigned. A part ends where an earlier version of Unicode had its last character.
 */
const uniform: CodePoints = [
  [0x3400, 0x4db5],
  [0x4e00, 0x9fa5],
  [0xa016, 0xa48c],
  [0xac00, 0xd7a3],
  [0xe000, 0xf8ff],
  [0x12000, 0x1236e],
  [0x13000, 0x1342e],
  [0x13460, 0x143fa],
  [0x14400, 0x14646],
  [0x16800, 0x16a38],
  [0x17000, 0x187ec],
  [0x18800, 0x18af2],
  [0x18b00, 0x18cd5],
  [0x20000, 0x2a6d6],
  [0x2a700, 0x2b734],
  [0x2b740, 0x2b81d],
  [0x2b820, 0x2cea1],
  [0x2ceb0, 0x2ebe0],
  [0x2ebf0, 0x2ee5d],
  [0x30000, 0x3134a],
  [0x31350, 0x323af],
  [0x323b0, 0x33479],
  [0xe0200, 0xe0fff],
  [0xe1000, 0xefffd],
  ...[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16].flatMap((plane) => [
    [plane * 0x10000, plane * 0x10000 + 0xfffd] as const,
    [plane * 0x10000 + 0xfffe, plane * 0x10000 + 0xffff] as const,
  ]),
  ...unassigned,
];
const surrogates: CodePoints = [[0xd800, 0xdfff]];

const sliceLength = 0x4000;

/** The code points from one on, as a text of `units` UTF-16 units each. */
interface ScannedText {
  readonly text: string;
  readonly first: number;
  readonly units: number;
}

/** All other code points. Made once, in about 2 ms. */
let texts: readonly ScannedText[] | undefined;

function scannedTexts(): readonly ScannedText[] {
  texts ??= complementOf(unionOf([...uniform, ...surrogates])).flatMap(([first, last]) => {
    const parts: ScannedText[] = [];
    for (let from = first; from <= last; ) {
      const to = Math.min(last, from + sliceLength - 1, from < 0x10000 ? 0xffff : last);
      parts.push({ text: textOf(from, to), first: from, units: from < 0x10000 ? 1 : 2 });
      from = to + 1;
    }
    return parts;
  });
  return texts;
}

/** The characters of a Unicode property, such as `L`, `Script=Greek` or `Emoji`, in the version of Node.js; undefined for an unknown name. */
export function propertySet(name: string): CodePoints | undefined {
  const found = known.get(name);
  if (found !== undefined) return found;
  let pattern: RegExp;
  try {
    pattern = new RegExp(`\\p{${name}}+`, 'gu');
  } catch {
    return undefined;
  }
  const ranges: [number, number][] = [];
  for (const text of scannedTexts()) addRanges(text, pattern, ranges);
  for (const [first, last] of uniform) {
    pattern.lastIndex = 0;
    if (pattern.test(String.fromCodePoint(first))) add(ranges, first, last);
  }
  ranges.sort(([a], [b]) => a - b);
  if (known.size >= maxKnown) known.delete(known.keys().next().value ?? '');
  const joined: [number, number][] = [];
  for (const [first, last] of ranges) add(joined, first, last);
  known.set(name, joined);
  return joined;
}

/** All characters of a range of one or two units each, in order. */
function textOf(first: number, last: number): string {
  const count = last - first + 1;
  if (first < 0x10000) {
    const units = new Uint16Array(count);
    for (let i = 0; i < count; i++) units[i] = first + i;
    return Buffer.from(units.buffer).toString('utf16le');
  }
  // Both units at once: the first is the lower half.
  const pairs = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const offset = first + i - 0x10000;
    pairs[i] = ((0xdc00 + (offset & 0x3ff)) << 16) | (0xd800 + (offset >> 10));
  }
  return Buffer.from(pairs.buffer).toString('utf16le');
}

function addRanges({ text, first, units }: ScannedText, pattern: RegExp, ranges: [number, number][]): void {
  pattern.lastIndex = 0;
  for (let run = pattern.exec(text); run !== null; run = pattern.exec(text))
    add(ranges, first + run.index / units, first + pattern.lastIndex / units - 1);
}

function add(ranges: [number, number][], first: number, last: number): void {
  const open = ranges.at(-1);
  if (open !== undefined && open[1] + 1 === first) open[1] = last;
  else ranges.push([first, last]);
}
