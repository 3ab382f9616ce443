import { GrowingRow, joined, longestRepeated, separatedRows } from './marked-blocks.js';

const gridRule = /^[ \t]*\+(?:[-=]+\+)+[ \t]*$/;
const simpleRule = /^[ \t]*=+(?:[ \t]+=+)+[ \t]*$/;
const spanRule = /^[ \t]*-+(?:[ \t]+-+)*[ \t]*$/;

export const isGridRule = (line: string) => gridRule.test(line);
export const isSimpleRule = (line: string) => simpleRule.test(line);

/** Most columns of a table. */
const maxColumns = 200;

/** Stands in the second column of a wide character: a character that no text has. */
const filler = '\uE0F3';
const wide = /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]/g;

/** Returns a line in which a wide character takes two characters, as it takes two columns. */
const inColumns = (line: string) => line.replace(wide, `$&${filler}`);

interface GridCell {
  readonly parts: string[];
  /** The parts in one line, once all are known. */
  text?: string;
  /** Its last column. */
  last: number;
}

/** A place in a row: the cell that begins at it or reaches into it from above; undefined within a cell to its left. */
interface GridPlace {
  cell: GridCell | undefined;
  isFirst: boolean;
}

/** The rows of a table that is drawn with bars, whose first line is a rule. A cell that spans rows has its text in each. */
export function gridRows(lines: readonly string[]): string[][] {
  const drawn = lines.map(inColumns);
  const bounds = boundsOf(drawn);
  const rows: GridPlace[][] = [];
  for (const line of drawn) {
    const isRule = bounds
      .slice(1)
      .map((end, at) => /^[-=]+$/.test(line.slice((bounds[at] as number) + 1, end)));
    openCells(rows.at(-1) ?? [], line, bounds, isRule);
    // A cell without a rule below it reaches into the next row.
    if (isRule.includes(true))
      rows.push(
        isRule.map((ends, at) => ({ cell: ends ? undefined : rows.at(-1)?.[at]?.cell, isFirst: false })),
      );
    for (const [at, { cell }] of (rows.at(-1) ?? []).entries())
      cell?.parts.push(line.slice((bounds[at] as number) + 1, bounds[cell.last + 1]).replaceAll(filler, ''));
  }
  return rows.map((row) =>
    row.map(({ cell, isFirst }) => {
      if (cell === undefined) return '';
      cell.text ??= joined(cell.parts);
      const { text } = cell;
      return isFirst || text.length <= longestRepeated ? text : '';
    }),
  );
}

const crossing = /(?<=^|[-=|\s])\+(?=[-=])|(?<=[-=])\+(?=$|[-=|\s])/g;

/** Begins the cells of a row that this line is the first of. */
function openCells(
  row: GridPlace[],
  line: string,
  bounds: readonly number[],
  isRule: readonly boolean[],
): void {
  for (let at = 0; at < row.length; ) {
    const place = row[at] as GridPlace;
    if (place.cell === undefined && !isRule[at]) {
      place.cell = { parts: [], last: lastColumn(line, bounds, at) };
      place.isFirst = true;
    }
    at = (place.cell?.last ?? at) + 1;
  }
}

/** Where the columns of a drawn table begin and end: at the crossings of its rules. */
function boundsOf(drawn: readonly string[]): number[] {
  const found = new Set<number>();
  for (const line of drawn)
    for (const { index } of line.matchAll(crossing)) if (found.size <= maxColumns) found.add(index);
  return [...found].sort((a, b) => a - b);
}

/** The last column of a cell: no bar stands between its columns. */
function lastColumn(line: string, bounds: readonly number[], first: number): number {
  let last = first;
  while (last + 2 < bounds.length && !/[|+]/.test(line[bounds[last + 1] as number] ?? '')) last++;
  return last;
}

/** The rows of a table whose columns are below the parts of a rule. */
export function simpleRows(rule: string, lines: readonly string[]): string[][] {
  const begins = [...rule.matchAll(/=+/g)].map(({ index }) => index);
  const rows: GrowingRow[] = [];
  for (const line of lines) {
    if (isSimpleRule(line) || spanRule.test(line)) continue;
    const cells = simpleCells(inColumns(line), begins);
    // A row without a first cell continues the one above it.
    const row = (cells[0] === '' ? rows.at(-1) : undefined) ?? new GrowingRow();
    if (row !== rows.at(-1)) rows.push(row);
    for (const [at, cell] of cells.entries()) row.add(at, cell);
  }
  return rows.map(({ texts }) => texts);
}

/** The cells of a line. A text that crosses the gap between two columns spans them. */
function simpleCells(line: string, begins: readonly number[]): string[] {
  const cells: string[] = [];
  for (let at = 0; at < begins.length; ) {
    let next = at + 1;
    while (
      next < begins.length &&
      /\S{2}/.test(line.slice((begins[next] as number) - 1, (begins[next] as number) + 1))
    )
      next++;
    cells.push(line.slice(begins[at], begins[next]).replaceAll(filler, '').trim());
    while (++at < next) cells.push('');
  }
  return cells;
}

/** The rows of a list of lists. */
export function listRows(lines: readonly string[]): string[][] {
  const rows: string[][][] = [];
  let indent = -1;
  for (const line of lines) {
    const [, before = '', star, text = ''] = /^(\s*)(\*\s+)?-(?:\s+(\S.*))?$/.exec(line) ?? [];
    const at = before.length + (star?.length ?? 0);
    if (star !== undefined && (indent < 0 || at === indent)) {
      indent = at;
      rows.push([[text]]);
    } else if (star === undefined && /^\s*-/.test(line) && at === indent) rows.at(-1)?.push([text]);
    else rows.at(-1)?.at(-1)?.push(line);
  }
  return rows.map((row) => row.map(joined));
}

/** The rows of a table of CSV, with the header that its options state. Spaces before a cell are not part of it. */
export function csvRows(lines: readonly string[], header: string | undefined): string[][] {
  const all = header === undefined ? lines : [header, ...lines];
  return separatedRows(
    all.map((line) => line.trim().replace(/,[ \t]+(?=")/g, ',')),
    ',',
  );
}
