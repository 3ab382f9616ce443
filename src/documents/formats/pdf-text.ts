/** A run of characters on a page, as pdf.js gives it. */
export interface TextItem {
  str?: string;
  hasEOL?: boolean;
  height?: number;
  transform?: readonly number[];
}

/** Lines further apart than this many heights of a character are of two paragraphs. */
const paragraphGap = 1.8;

/** The text of a page: lines, with a blank line between paragraphs. Words divided at the end of a line are joined. */
export function pageText(items: readonly TextItem[]): string {
  const lines: string[] = [];
  let line = '';
  let lastY: number | undefined;
  let height = 0;
  const finish = () => {
    if (line.trim() !== '') lines.push(line.trim());
    line = '';
  };
  for (const { str = '', hasEOL, height: own = 0, transform } of items) {
    const y = transform?.[5];
    if (str.trim() !== '' && y !== undefined) {
      const gap = lastY === undefined ? 0 : Math.abs(lastY - y);
      if (line === '' && lines.length > 0 && gap > paragraphGap * Math.max(height, own, 1)) lines.push('');
      lastY = y;
      height = own;
    }
    line += str;
    if (hasEOL) finish();
  }
  finish();
  return joined(lines);
}

function joined(lines: readonly string[]): string {
  let text = '';
  for (const line of lines) {
    if (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(line)) text = text.slice(0, -1) + line;
    else text += (text === '' ? '' : '\n') + line;
  }
  return text;
}
