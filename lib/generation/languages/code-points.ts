/** Inclusive ranges of code points, sorted, without overlap and not adjacent. */
export type CodePoints = readonly (readonly [first: number, last: number])[];

const lastCodePoint = 0x10ffff;

export const allCodePoints: CodePoints = [[0, lastCodePoint]];

type Range = CodePoints[number];

/** The union of ranges in any order. */
export function unionOf(ranges: CodePoints): CodePoints {
  if (ranges.length < 2) return ranges;
  const sorted = ranges.toSorted((a, b) => a[0] - b[0]);
  const out: [number, number][] = [];
  let open: [number, number] | undefined;
  for (let index = 0; index < sorted.length; index++) {
    const range = sorted[index] as Range;
    if (open !== undefined && range[0] <= open[1] + 1) {
      open[1] = Math.max(open[1], range[1]);
      continue;
    }
    open = [range[0], range[1]];
    out.push(open);
  }
  return out;
}

export function complementOf(ranges: CodePoints): CodePoints {
  const out: [number, number][] = [];
  let next = 0;
  for (let index = 0; index < ranges.length; index++) {
    const range = ranges[index] as Range;
    if (range[0] > next) out.push([next, range[0] - 1]);
    next = range[1] + 1;
  }
  if (next <= lastCodePoint) out.push([next, lastCodePoint]);
  return out;
}

export function intersectionOf(one: CodePoints, other: CodePoints): CodePoints {
  const out: [number, number][] = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    const a = one[i] as Range;
    const b = other[j] as Range;
    const first = Math.max(a[0], b[0]);
    const last = Math.min(a[1], b[1]);
    if (first <= last) out.push([first, last]);
    if (a[1] < b[1]) i++;
    else j++;
  }
  return out;
}

export function holds(ranges: CodePoints, codePoint: number): boolean {
  let low = 0;
  let high = ranges.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const range = ranges[middle] as Range;
    if (codePoint < range[0]) high = middle - 1;
    else if (codePoint > range[1]) low = middle + 1;
    else return true;
  }
  return false;
}

/** The code points of characters and ranges: `of('a-z', '_')`; a hyphen stands between the ends of a range. */
export function codePointsOf(...parts: readonly string[]): CodePoints {
  return unionOf(
    parts.map((part) => {
      const characters = [...part];
      const first = characters[0]?.codePointAt(0) ?? 0;
      return [first, characters.length === 3 ? (characters[2]?.codePointAt(0) ?? 0) : first] as const;
    }),
  );
}

/** Characters that no set of an alphabet tells apart. */
export interface CharacterClass {
  readonly codePoints: CodePoints;
  /** Numbers of the sets that hold them. */
  readonly sets: readonly number[];
}

/**
 * Divides all code points into classes that no set tells apart. The sets hold `maxRanges` ranges at most; undefined if they hold
 * more.
 */
export function classesOf(sets: readonly CodePoints[], maxRanges: number): CharacterClass[] | undefined {
  const changes = changesOf(sets, maxRanges);
  if (changes === undefined) return undefined;
  const starts = [...changes.keys()].filter((at) => at <= lastCodePoint).sort((a, b) => a - b);
  const within = new Set<number>();
  const classes = new Map<string, CharacterClass & { codePoints: Range[] }>();
  for (let index = 0; index < starts.length; index++) {
    const start = starts[index] as number;
    for (const set of changes.get(start) ?? []) if (!within.delete(set)) within.add(set);
    const inside = [...within].sort((a, b) => a - b);
    const key = inside.join();
    const known = classes.get(key);
    const range = [start, (starts[index + 1] ?? lastCodePoint + 1) - 1] as const;
    if (known === undefined) classes.set(key, { codePoints: [range], sets: inside });
    else known.codePoints.push(range);
  }
  return [...classes.values()].map((each) => ({ codePoints: unionOf(each.codePoints), sets: each.sets }));
}

/** By code point, the sets that begin or end there, by number; undefined if there are too many ranges. */
function changesOf(sets: readonly CodePoints[], maxRanges: number): Map<number, number[]> | undefined {
  const changes = new Map<number, number[]>([[0, []]]);
  const change = (at: number, set: number) => {
    const known = changes.get(at);
    if (known === undefined) changes.set(at, [set]);
    else known.push(set);
  };
  let ranges = 0;
  for (let set = 0; set < sets.length; set++) {
    const all = sets[set] as CodePoints;
    ranges += all.length;
    if (ranges > maxRanges) return undefined;
    for (let index = 0; index < all.length; index++) {
      const range = all[index] as Range;
      change(range[0], set);
      change(range[1] + 1, set);
    }
  }
  return changes;
}
