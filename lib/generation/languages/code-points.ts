/** Inclusive ranges of code points, sorted, without overlap and not adjacent. */
export type CodePoints = readonly (readonly [first: number, last: number])[];

const lastCodePoint = 0x10ffff;

export const allCodePoints: CodePoints = [[0, lastCodePoint]];

/** The union of ranges in any order. */
export function unionOf(ranges: CodePoints): CodePoints {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  const out: [number, number][] = [];
  for (const [first, last] of sorted) {
    const open = out.at(-1);
    if (open !== undefined && first <= open[1] + 1) open[1] = Math.max(open[1], last);
    else out.push([first, last]);
  }
  return out;
}

export function complementOf(ranges: CodePoints): CodePoints {
  const out: [number, number][] = [];
  let next = 0;
  for (const [first, last] of ranges) {
    if (first > next) out.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= lastCodePoint) out.push([next, lastCodePoint]);
  return out;
}

export function intersectionOf(one: CodePoints, other: CodePoints): CodePoints {
  const out: [number, number][] = [];
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    const [a, b] = [one[i] as readonly [number, number], other[j] as readonly [number, number]];
    const [first, last] = [Math.max(a[0], b[0]), Math.min(a[1], b[1])];
    if (first <= last) out.push([first, last]);
    if (a[1] < b[1]) i++;
    else j++;
  }
  return out;
}

export function holds(ranges: CodePoints, codePoint: number): boolean {
  let [low, high] = [0, ranges.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = ranges[middle] as readonly [number, number];
    if (codePoint < first) high = middle - 1;
    else if (codePoint > last) low = middle + 1;
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
  const changes = new Map<number, number[]>([[0, []]]);
  let ranges = 0;
  const change = (at: number, set: number) => {
    const known = changes.get(at);
    if (known === undefined) changes.set(at, [set]);
    else known.push(set);
  };
  for (const [index, set] of sets.entries()) {
    ranges += set.length;
    if (ranges > maxRanges) return undefined;
    for (const [first, last] of set) {
      change(first, index);
      change(last + 1, index);
    }
  }
  const within = new Set<number>();
  const classes = new Map<string, { ranges: [number, number][]; sets: number[] }>();
  const starts = [...changes.keys()].filter((at) => at <= lastCodePoint).sort((a, b) => a - b);
  for (const [index, start] of starts.entries()) {
    for (const set of changes.get(start) ?? []) if (!within.delete(set)) within.add(set);
    const inside = [...within].sort((a, b) => a - b);
    const key = inside.join();
    const range: [number, number] = [start, (starts[index + 1] ?? lastCodePoint + 1) - 1];
    const known = classes.get(key);
    if (known === undefined) classes.set(key, { ranges: [range], sets: inside });
    else known.ranges.push(range);
  }
  return [...classes.values()].map((each) => ({ codePoints: unionOf(each.ranges), sets: each.sets }));
}
