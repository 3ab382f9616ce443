/** A part of a line without wide gaps. Lengths are in points; y grows upwards. */
export interface Fragment {
  text: string;
  left: number;
  right: number;
  y: number;
  height: number;
  /** Written from right to left. */
  isRtl: boolean;
  /** Continues the line of the fragment before it. */
  continues: boolean;
}

/** A page with more fragments is read as it is drawn. */
const mostFragments = 4000;

/** Left edges that are tried as that of a column. */
const mostEdges = 12;

/** Least number of lines, and least width in heights of a character, of a column. */
const leastLines = 3;
const leastWidth = 9;

/** Lines of prose fill this part of their column, and some begin within a sentence; cells of a table do not. */
const leastFill = 0.55;
const leastWithin = 0.25;

/** A wide column of lines of nearly one length is prose, whatever its lines begin with. */
const evenFill = 0.8;
const wideWidth = 15;

/** How far apart edges of one column may lie, in points. */
const edgeTolerance = 4;

/** Puts the fragments of a page with columns in reading order; other pages stay as they are drawn. */
export function columnsOf(fragments: readonly Fragment[]): readonly Fragment[] {
  if (fragments.length > mostFragments) return fragments;
  const isRtl = fragments.filter((fragment) => fragment.isRtl).length * 2 > fragments.length;
  return ordered(fragments, isRtl, 4) ?? fragments;
}

interface Split {
  left: Fragment[];
  right: Fragment[];
  /** Lie over both, as a title does. */
  across: Set<Fragment>;
}

function ordered(fragments: readonly Fragment[], isRtl: boolean, depth: number): Fragment[] | undefined {
  const split = depth > 0 ? bestSplit(fragments) : undefined;
  if (split === undefined) return undefined;
  const left = new Set(split.left);
  const result: Fragment[] = [];
  let columns: [Fragment[], Fragment[]] = [[], []];
  const finish = () => {
    for (const column of isRtl ? columns.toReversed() : columns)
      result.push(
        ...(ordered(column, isRtl, depth - 1) ??
          column.map((fragment, at) => inLine(fragment, column[at - 1]))),
      );
    columns = [[], []];
  };
  for (const fragment of fragments.toSorted((a, b) => b.y - a.y || a.left - b.left)) {
    if (split.across.has(fragment)) {
      finish();
      result.push(inLine(fragment, result.at(-1)));
    } else columns[left.has(fragment) ? 0 : 1].push(fragment);
  }
  finish();
  return result;
}

/** Returns a fragment that continues the line before it, or begins one. */
function inLine(fragment: Fragment, before: Fragment | undefined): Fragment {
  const continues = before !== undefined && Math.abs(before.y - fragment.y) < 1;
  if (continues && !/\s$/.test(before.text)) return { ...fragment, text: ` ${fragment.text}`, continues };
  return { ...fragment, continues };
}

function bestSplit(fragments: readonly Fragment[]): Split | undefined {
  const counts = new Map<number, number>();
  for (const { left } of fragments) {
    const edge = Math.round(left / edgeTolerance);
    counts.set(edge, (counts.get(edge) ?? 0) + 1);
  }
  const edges = [...counts].filter(([, count]) => count >= 2).sort((a, b) => b[1] - a[1]);
  let best: Split | undefined;
  for (const [edge] of edges.slice(0, mostEdges)) {
    const split = splitAt(fragments, (edge - 1) * edgeTolerance);
    if (isColumns(split) && least(split) > (best === undefined ? 0 : least(best))) best = split;
  }
  return best;
}

const least = ({ left, right }: Split) => Math.min(left.length, right.length);

function splitAt(fragments: readonly Fragment[], edge: number): Split {
  const split: Split = { left: [], right: [], across: new Set() };
  for (const fragment of fragments) {
    if (fragment.left >= edge) split.right.push(fragment);
    else if (fragment.right < edge) split.left.push(fragment);
    else split.across.add(fragment);
  }
  return split;
}

function isColumns({ left, right, across }: Split): boolean {
  if (left.length < leastLines || right.length < leastLines) return false;
  if (across.size > (left.length + right.length) / 2) return false;
  return isProse(left) && isProse(right) && beside(left, right);
}

function isProse(column: readonly Fragment[]): boolean {
  const from = Math.min(...column.map(({ left }) => left));
  const to = Math.max(...column.map(({ right }) => right));
  // A column may itself be two: their lines lie side by side.
  const widths = new Map<number, number>();
  for (const { y, left, right } of column)
    widths.set(Math.round(y), (widths.get(Math.round(y)) ?? 0) + right - left);
  const height = median(column.map((fragment) => fragment.height));
  const fill = median([...widths.values()]) / (to - from);
  if (fill >= evenFill && to - from >= wideWidth * height) return true;
  const within = column.filter(({ text }) => !/^\s*[\p{Lu}\d]/u.test(text)).length;
  return fill >= leastFill && to - from >= leastWidth * height && within >= leastWithin * column.length;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Whether most of the lower one of two columns lies beside the other. */
function beside(left: readonly Fragment[], right: readonly Fragment[]): boolean {
  const [a, b] = [left, right].map((column) => {
    const places = column.map(({ y }) => y);
    return [Math.min(...places), Math.max(...places)] as const;
  }) as [readonly [number, number], readonly [number, number]];
  const shared = Math.min(a[1], b[1]) - Math.max(a[0], b[0]);
  return shared > 0 && shared >= 0.5 * Math.min(a[1] - a[0], b[1] - b[0]);
}
