import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Number of columns of a printable text. */
export function columns(text: string): number {
  return stringWidth(text);
}

/** The graphemes of a text, with their columns. */
export function* cells(text: string): Generator<{ text: string; width: number; index: number }> {
  for (const { segment, index } of graphemes.segment(text)) {
    yield { text: segment, width: stringWidth(segment), index };
  }
}

/** Truncates a text to `width` columns, with an ellipsis if anything was cut. */
export function ellipsize(text: string, width: number): string {
  if (text.length <= width && columns(text) <= width) return text;
  if (width < 1) return '';
  let taken = '';
  let used = 0;
  for (const cell of cells(text)) {
    if (used + cell.width > width - 1) break;
    taken += cell.text;
    used += cell.width;
  }
  return columns(text) <= width ? text : `${taken}…`;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columns(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - columns(text))) + text;
}
