/** A run of characters on a page, as pdf.js gives it. */
export interface TextItem {
  str?: string;
  hasEOL?: boolean;
  height?: number;
  transform?: readonly number[];
}

/** Lines further apart than this many heights of a character are of two paragraphs. */
const paragraphGap = 1.8;

/** Stands for a hyphen at the end of a line, until all words of the document are known. No text has it. */
const brokenHyphen = '\uE0AD';

/** The text of a page: lines, with a blank line between paragraphs. joinWords() joins the words that lines divide. */
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
    if (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(line)) text = text.slice(0, -1) + brokenHyphen + line;
    else text += (text === '' ? '' : '\n') + line;
  }
  return text;
}

const words = /[\p{L}\p{M}]{1,60}(?:-[\p{L}\p{M}]{1,60}){0,4}/gu;

const broken = new RegExp(`([\\p{L}\\p{M}]{0,60})${brokenHyphen}([\\p{L}\\p{M}]{0,60})`, 'gu');

/**
 * Joins the words of a document that are divided at the ends of lines. The document's own words decide whether a hyphen stays:
 * the compound is written elsewhere with it and not without it, or nowhere and both of its parts are words.
 */
export function joinWords(pages: readonly string[]): string[] {
  if (!pages.some((page) => page.includes(brokenHyphen))) return [...pages];
  const known = new Set<string>();
  for (const page of pages)
    for (const [word] of page.replace(broken, ' ').matchAll(words)) known.add(word.toLowerCase());
  const staysIn = (first: string, second: string) => {
    const [one, two] = [first.toLowerCase(), second.toLowerCase()];
    if (known.has(one + two)) return false;
    return known.has(`${one}-${two}`) || (known.has(one) && known.has(two));
  };
  return pages.map((page) =>
    page
      .replace(
        broken,
        (_, first: string, second: string) => `${first}${staysIn(first, second) ? '-' : ''}${second}`,
      )
      .replaceAll(brokenHyphen, ''),
  );
}
