import { type CodePoints, complementOf, unionOf } from './languages/code-points.js';

/** Sets that were looked up, by name; the oldest go first. */
const known = new Map<string, CodePoints>();
const maxKnown = 64;

/**
 * Parts whose code points have the same properties, those of the first one: ideographs, syllables of Hangul, private use, and what
 * is not assigned. A part ends where an earlier version of Unicode had its last character.
 */
const uniform: CodePoints = [
  [0x3400, 0x4db5],
  [0x4e00, 0x9fa5],
  [0xac00, 0xd7a3],
  [0xe000, 0xf8ff],
  [0x17000, 0x187ec],
  [0x20000, 0x2a6d6],
  [0x2a700, 0x2b734],
  [0x2b740, 0x2b81d],
  [0x2b820, 0x2cea1],
  [0x2ceb0, 0x2ebe0],
  [0x30000, 0x3134a],
  [0x31350, 0x323af],
  [0xe0200, 0xe0fff],
  [0xe1000, 0xefffd],
  ...[4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16].flatMap((plane) => [
    [plane * 0x10000, plane * 0x10000 + 0xfffd] as const,
    [plane * 0x10000 + 0xfffe, plane * 0x10000 + 0xffff] as const,
  ]),
];
const surrogates: CodePoints = [[0xd800, 0xdfff]];

const sliceLength = 0x4000;

/** The code points from one on, as a text of `units` UTF-16 units each. */
interface ScannedText {
  readonly text: string;
  readonly first: number;
  readonly units: number;
}

/** All other code points. Made once, in about 5 ms. */
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
  const units = new Uint16Array((last - first + 1) * (first < 0x10000 ? 1 : 2));
  if (first < 0x10000) {
    for (let i = 0; i < units.length; i++) units[i] = first + i;
  } else {
    for (let i = 0; i < units.length; i += 2) {
      const offset = first + i / 2 - 0x10000;
      units[i] = 0xd800 + (offset >> 10);
      units[i + 1] = 0xdc00 + (offset & 0x3ff);
    }
  }
  return Buffer.from(units.buffer).toString('utf16le');
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
