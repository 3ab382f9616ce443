import type { PageLine } from './pdf-lines.js';

/** Headers and footers lie within this part of a page's height from its edge. */
const margin = 0.1;

/** Longer lines, in characters, are text. */
const longestLine = 300;

/** Lines that are looked at from each edge. */
const depth = 3;

/** Headers and footers of odd and even pages may differ. */
const leastShare = 0.4;

const number = /\d+/g;

/** Roman page numbers are numbers, too. */
const shapeOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/^[ivxlc]+$/, '#')
    .replace(number, '#')
    .replace(/\s+/g, ' ')
    .trim();

interface Edge {
  page: number;
  line: PageLine;
}

/** Returns the pages without the lines that repeat in their margins. A line with numbers repeats if one of them counts the pages. */
export function withoutMargins(pages: readonly PageLine[][]): PageLine[][] {
  const groups = new Map<string, Edge[]>();
  for (const [page, lines] of pages.entries())
    for (const line of edgesOf(lines)) {
      const key = `${(line.place ?? 0) > 0.5} ${shapeOf(line.text)}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [{ page, line }]);
      else group.push({ page, line });
    }
  const dropped = new Set<PageLine>();
  for (const group of groups.values())
    if (isRepeated(group, pages.length)) for (const { line } of group) dropped.add(line);
  for (const line of pageNumbers(pages)) dropped.add(line);
  return pages.map((lines) => {
    const rest = lines.filter((line) => !dropped.has(line));
    return rest.length === 0 ? lines : rest; // a page of headings alone
  });
}

/** A number that begins or ends a line in the margin: "12 | Lamps", "Chapter 3: Lamps 12". */
const endNumber = /^\W{0,5}(\d{1,5})\b|\b(\d{1,5})\W{0,5}$/g;

/** Part of the pages that have a number at the same distance from their place in the file. */
const leastNumbered = 0.5;

/** The lines in the margins with the number of their page, whatever else they say, of a document that numbers its pages. */
function pageNumbers(pages: readonly PageLine[][]): PageLine[] {
  const byOffset = new Map<number, { line: PageLine; page: number }[]>();
  for (const [page, lines] of pages.entries())
    for (const line of edgesOf(lines))
      for (const [, first, last] of line.text.matchAll(endNumber)) {
        const offset = Number(first ?? last) - page;
        const list = byOffset.get(offset);
        if (list === undefined) byOffset.set(offset, [{ line, page }]);
        else list.push({ line, page });
      }
  return [...byOffset.values()]
    .filter((list) => new Set(list.map(({ page }) => page)).size >= Math.max(4, leastNumbered * pages.length))
    .flatMap((list) => list.map(({ line }) => line));
}

function edgesOf(lines: readonly PageLine[]): PageLine[] {
  const placed = lines
    .filter(({ place = 0.5, text }) => text.length <= longestLine && (place < margin || place > 1 - margin))
    .toSorted((a, b) => (b.place ?? 0) - (a.place ?? 0));
  const top = placed.filter(({ place = 0 }) => place > 0.5).slice(0, depth);
  const bottom = placed.filter(({ place = 0 }) => place < 0.5).slice(-depth);
  return [...top, ...bottom];
}

function isRepeated(group: readonly Edge[], pages: number): boolean {
  const on = new Set(group.map(({ page }) => page)).size;
  const [first] = group;
  if (first === undefined || on < 2) return false;
  const isSame = group.every(({ line }) => line.text === first.line.text);
  if (!isSame && !counts(group)) return false;
  return pages === 2 ? !isSame : on >= 3 && on >= leastShare * pages;
}

/** Whether a number in the lines grows with the pages. */
function counts(group: readonly Edge[]): boolean {
  const rows = group.map(({ page, line }) => ({ page, numbers: line.text.match(number) ?? [] }));
  const [first] = rows;
  if (first === undefined) return false;
  if (first.numbers.length === 0) return true; // Roman
  return first.numbers.some((value, at) => {
    const offset = Number(value) - first.page;
    return (
      rows.filter(({ page, numbers }) => Number(numbers[at]) - page === offset).length >= 0.8 * rows.length
    );
  });
}
