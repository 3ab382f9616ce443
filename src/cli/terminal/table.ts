import { columns, ellipsize, ellipsizeMiddle, padEnd, padStart } from './columns.js';
import { wrapped } from './lines.js';

export interface Column {
  title: string;
  align: 'left' | 'right';
  /** Cells are truncated to this many columns. */
  widest?: number | undefined;
  /** Where cells are truncated. Default: the end. */
  cut?: 'end' | 'middle';
}

/** Printable cells in aligned columns, separated by two blanks, below a line of titles. */
export function tableLines(layout: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const widths = tableWidths(layout, rows);
  const line = (cells: readonly string[]) =>
    layout
      .map(({ align, cut }, index) => {
        const width = widths[index] ?? 0;
        const shorten = cut === 'middle' ? ellipsizeMiddle : ellipsize;
        const text = shorten(cells[index] ?? '', width);
        return align === 'left' ? padEnd(text, width) : padStart(text, width);
      })
      .join('  ');
  return [layout.map(({ title }) => title), ...rows].map(line);
}

/** Columns between two cells. */
const gap = 2;

/** Cells that are longer are truncated before a table is given up, to no fewer columns than these. */
const shortest = 12;

/**
 * A table whose lines have at most `limit` columns: long cells are truncated, and if that is not enough, each row is written
 * below its first cell, a line for each cell.
 */
export function fittedTable(
  layout: readonly Column[],
  rows: readonly (readonly string[])[],
  limit: number,
): string[] {
  const widths = tableWidths(layout, rows);
  const gaps = gap * (layout.length - 1);
  let excess = widths.reduce((sum, width) => sum + width, gaps) - limit;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= shortest) return stacked(layout, rows, limit);
    widths[widths.indexOf(widest)] = widest - 1;
    excess--;
  }
  const fitting = layout.map((column, index) => ({ ...column, widest: widths[index] }));
  return tableLines(fitting, rows).map((line) => line.trimEnd());
}

function stacked(layout: readonly Column[], rows: readonly (readonly string[])[], limit: number): string[] {
  return rows.flatMap(([first = '', ...cells]) => [
    ...wrapped(first, limit, ''),
    ...cells.flatMap((cell, index) => wrapped(`${layout[index + 1]?.title}: ${cell}`, limit, '  ', '    ')),
  ]);
}

export function tableWidths(layout: readonly Column[], rows: readonly (readonly string[])[]): number[] {
  return layout.map(({ title, widest = Number.POSITIVE_INFINITY }, index) => {
    const longest = rows.reduce((most, row) => Math.max(most, columns(row[index] ?? '')), columns(title));
    return Math.min(longest, widest);
  });
}
