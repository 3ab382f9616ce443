import { joined, longestRepeated } from './marked-blocks.js';

/** A cell of a table that may reach over several columns and rows. */
export interface SpanningCell {
  /** The lines of its text. */
  readonly parts: string[];
  readonly columns: number;
  readonly rows: number;
}

/** Most columns of a table. */
const maxColumns = 200;

/** Puts cells into rows of so many columns. A cell that spans rows has its text in each, one that spans columns in the first. */
export function spannedRows(cells: readonly SpanningCell[], stated: number): string[][] {
  const columns = Math.min(Math.max(stated, 1), maxColumns);
  const rows: string[][] = [];
  /** Texts of cells that reach into the next rows, by column. */
  const spans = new Map<number, { text: string; left: number }>();
  let row: string[] = [];
  const fill = () => {
    for (let span = spans.get(row.length); span !== undefined; span = spans.get(row.length)) {
      if (--span.left === 0) spans.delete(row.length);
      row.push(span.text);
    }
  };
  const endRow = () => {
    rows.push(row);
    row = [];
    // A row of cells above alone would have nothing of its own.
    if (spans.size === columns) spans.clear();
    fill();
  };
  for (const cell of cells) {
    const text = joined(cell.parts);
    const begin = row.length;
    for (let at = 0; at < cell.columns && row.length < columns; at++) {
      const shown = at === 0 ? text : '';
      if (cell.rows > 1)
        spans.set(begin + at, { text: text.length > longestRepeated ? '' : shown, left: cell.rows - 1 });
      row.push(shown);
    }
    fill();
    if (row.length >= columns) endRow();
  }
  if (row.length > 0) rows.push(row);
  return rows;
}
