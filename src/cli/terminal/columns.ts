import { createRequire } from 'node:module';

type StringWidth = (text: string) => number;

let stringWidth: StringWidth | undefined;
let segmenter: Intl.Segmenter | undefined;

/** Its tables of Unicode take 25 ms, which a command that prints ASCII alone saves. */
function loadedStringWidth(): StringWidth {
  stringWidth ??= (createRequire(import.meta.url)('string-width') as { default: StringWidth }).default;
  return stringWidth;
}

const printableAscii = /^[ -~]*$/;

/** Number of columns of a printable text. */
export function columns(text: string): number {
  return printableAscii.test(text) ? text.length : loadedStringWidth()(text);
}

/** The graphemes of a text, with their columns. */
export function* graphemes(text: string): Generator<{ text: string; width: number; index: number }> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  for (const { segment, index } of segmenter.segment(text)) {
    yield { text: segment, width: columns(segment), index };
  }
}

/** Truncates a text to `width` columns, with an ellipsis if anything was cut. */
export function ellipsize(text: string, width: number): string {
  if (text.length <= width && columns(text) <= width) return text;
  if (width < 1) return '';
  let taken = '';
  let used = 0;
  for (const grapheme of graphemes(text)) {
    if (used + grapheme.width > width - 1) break;
    taken += grapheme.text;
    used += grapheme.width;
  }
  return columns(text) <= width ? text : `${taken}…`;
}

/** Truncates a text to `width` columns in the middle: ids often differ at their ends. */
export function ellipsizeMiddle(text: string, width: number): string {
  if (text.length <= width && columns(text) <= width) return text;
  if (width < 1) return '';
  if (columns(text) <= width) return text;
  const all = [...graphemes(text)];
  const take = (part: typeof all, room: number) => {
    let used = 0;
    const end = part.findIndex((grapheme) => {
      used += grapheme.width;
      return used > room;
    });
    return part.slice(0, end < 0 ? undefined : end).map((grapheme) => grapheme.text);
  };
  const tail = take(all.toReversed(), Math.floor((width - 1) / 2)).toReversed();
  const head = take(all, Math.ceil((width - 1) / 2));
  return `${head.join('')}…${tail.join('')}`;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columns(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - columns(text))) + text;
}
