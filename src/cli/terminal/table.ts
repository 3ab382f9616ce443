import { columns, ellipsize, ellipsizeMiddle, padEnd, padStart } from './columns.js';

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

export function tableWidths(layout: readonly Column[], rows: readonly (readonly string[])[]): number[] {
  return layout.map(({ title, widest = Number.POSITIVE_INFINITY }, index) => {
    const longest = rows.reduce((most, row) => Math.max(most, columns(row[index] ?? '')), columns(title));
    return Math.min(longest, widest);
  });
}
