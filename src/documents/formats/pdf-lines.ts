import { columnsOf, type Fragment } from './pdf-columns.js';
import { withoutGaps } from './pdf-letters.js';

/** A run of characters on a page, as pdf.js gives it. */
export interface TextItem {
  str?: string;
  fontName?: string;
  hasEOL?: boolean;
  dir?: string;
  width?: number;
  height?: number;
  transform?: readonly number[];
}

/** A line of a page. */
export interface PageLine {
  text: string;
  /** Far from the line before: it begins a paragraph. */
  isApart: boolean;
  /** Its place as a part of the page's height, from the bottom; undefined where it is not known. */
  place?: number;
}

/** Lines further apart than this many heights of a character are of two paragraphs. */
const paragraphGap = 1.8;

/** A gap within a line of more than this many heights of a character may lie between columns. */
const columnGap = 1.2;

/** Lines in reading order: as the page draws them, or column by column. `box`: left, bottom, right, top of the page. */
export function pageLines(items: readonly TextItem[], box: readonly number[] = []): PageLine[] {
  const fragments = columnsOf(fragmentsOf(withWords(items)));
  const [, bottom = 0, , top = 0] = box;
  const lines: PageLine[] = [];
  for (let at = 0; at < fragments.length; ) {
    let end = at + 1;
    while (fragments[end]?.continues) end++;
    const line = fragments.slice(at, end);
    const text = textOf(line);
    const { y, height } = line[0] as Fragment;
    const before = fragments[at - 1];
    const gap = before === undefined ? 0 : Math.abs(before.y - y);
    const isApart = gap > paragraphGap * Math.max(before?.height ?? 0, height, 1);
    if (text !== '')
      lines.push({ text, isApart, ...(top > bottom && { place: (y - bottom) / (top - bottom) }) });
    at = end;
  }
  return lines;
}

/** Returns the runs with the letters of letterspaced words together. */
function withWords(items: readonly TextItem[]): TextItem[] {
  const all: TextItem[] = [];
  let line: TextItem[] = [];
  const finish = () => {
    const texts = withoutGaps(line.map(({ str = '' }) => str));
    for (const [at, item] of line.entries()) all.push({ ...item, str: texts[at] as string });
    line = [];
  };
  for (const item of items) {
    line.push(item);
    if (item.hasEOL) finish();
  }
  finish();
  return all;
}

function fragmentsOf(items: readonly TextItem[]): Fragment[] {
  const fragments: Fragment[] = [];
  let open: Fragment | undefined;
  let isLineOpen = false;
  let space = '';
  for (const { str = '', hasEOL = false, dir, width = 0, height = 0, transform } of items) {
    const [, , , , x = 0, y = 0] = transform ?? [];
    if (str.trim() === '') space += str;
    else {
      const isFar = open !== undefined && isWide(open, x, x + width);
      if (open === undefined || isFar || (dir === 'rtl') !== open.isRtl) {
        const continues = isLineOpen;
        // Spaces stay with the fragment before, whose line this one continues.
        if (continues) (fragments.at(-1) as Fragment).text += space;
        open = { text: str, left: x, right: x + width, y, height, isRtl: dir === 'rtl', continues };
        fragments.push(open);
      } else {
        open.text = joinedWith(open, space, str, x, width);
        open.left = Math.min(open.left, x);
        open.right = Math.max(open.right, x + width);
      }
      isLineOpen = true;
      space = '';
    }
    if (hasEOL) {
      open = undefined;
      isLineOpen = false;
      space = '';
    }
  }
  return fragments;
}

/** Least gap between two words from right to left, in heights of a character. pdf.js gives spaces to the others only. */
const wordGap = 0.15;

/** Right-to-left words may be drawn in either order. */
function joinedWith(open: Fragment, space: string, text: string, x: number, width: number): string {
  if (!open.isRtl) return `${open.text}${space}${text}`;
  const isBefore = x >= open.right - 1;
  const gap = isBefore ? x - open.right : open.left - (x + width);
  const between = space === '' && gap > wordGap * open.height ? ' ' : space;
  return isBefore ? `${text}${between}${open.text}` : `${open.text}${between}${text}`;
}

const isWide = ({ left, right, height }: Fragment, from: number, to: number) =>
  Math.max(from - right, left - to) > columnGap * Math.max(height, 1);

/** The text of a line. In a line from right to left, the fragments are read from the right. */
function textOf(line: readonly Fragment[]): string {
  const isRtl = line.filter((fragment) => fragment.isRtl).length * 2 > line.length;
  if (!isRtl) return inDrawnOrder(withRunsInOrder(line));
  let text = '';
  let left = 0;
  for (const fragment of line.toSorted((a, b) => b.right - a.right)) {
    const isWord = text !== '' && left - fragment.right > wordGap * fragment.height;
    text += `${isWord ? ' ' : ''}${fragment.text.trim()}`;
    left = fragment.left;
  }
  return text;
}

/** In a line from left to right, words from right to left, with the marks between them, are read from the right. */
function withRunsInOrder(line: readonly Fragment[]): readonly Fragment[] {
  const all: Fragment[] = [];
  for (let at = 0; at < line.length; ) {
    let end = at;
    for (let next = at; next < line.length; next++) {
      const { isRtl, text } = line[next] as Fragment;
      if (isRtl) end = next + 1;
      else if (next === at || /[\p{L}\p{N}]/u.test(text)) break;
    }
    const run = line.slice(at, Math.max(end, at + 1));
    all.push(...(run.length > 1 ? run.toSorted((a, b) => b.right - a.right).map(trimmed) : run));
    at += run.length;
  }
  return all;
}

const trimmed = (fragment: Fragment): Fragment => ({ ...fragment, text: fragment.text.trim() });

function inDrawnOrder(line: readonly Fragment[]): string {
  let text = '';
  let before: Fragment | undefined;
  for (const fragment of line) {
    const isWord =
      before !== undefined &&
      Math.max(fragment.left - before.right, before.left - fragment.right) > wordGap * fragment.height &&
      !/\s$/.test(before.text);
    text += `${isWord ? ' ' : ''}${fragment.text}`;
    before = fragment;
  }
  return text.trim();
}
