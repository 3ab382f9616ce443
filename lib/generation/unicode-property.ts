import type { CodePoints } from './languages/code-points.js';

/** Sets that were looked up, by name; the oldest go first. */
const known = new Map<string, CodePoints>();
const maxKnown = 64;

/** Code points whose properties differ: planes 4 to 13 have no characters, and 15 and 16 are private as a whole. */
const scanned: CodePoints = [
  [0, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, 0x3ffff],
  [0xe0000, 0xeffff],
];
/** The rest, in parts that have the properties of their first code point, apart from the last two of each plane. */
const uniform = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16].flatMap((plane) => [
  [plane * 0x10000, plane * 0x10000 + 0xfffd] as const,
  [plane * 0x10000 + 0xfffe, plane * 0x10000 + 0xffff] as const,
]);

const sliceLength = 0x4000;

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
  for (const [first, last] of scanned)
    for (let from = first; from <= last; from += sliceLength)
      addRanges(textOf(from, Math.min(last, from + sliceLength - 1)), pattern, ranges);
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

function addRanges(text: string, pattern: RegExp, ranges: [number, number][]): void {
  for (const { 0: run } of text.matchAll(pattern)) {
    const last = [...run.slice(-2)].at(-1)?.codePointAt(0) ?? 0;
    add(ranges, run.codePointAt(0) ?? 0, last);
  }
}

function add(ranges: [number, number][], first: number, last: number): void {
  const open = ranges.at(-1);
  if (open !== undefined && open[1] + 1 === first) open[1] = last;
  else ranges.push([first, last]);
}
