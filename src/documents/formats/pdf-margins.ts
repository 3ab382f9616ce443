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

/** The shapes of a line of the first pages, whose numbers are Roman, on later pages. */
const romanShapes = (key: string): string[] =>
  [key.replace(/(?<= )[ivxlc]+$/, '#'), key.replace(/^([+-])[ivxlc]+(?= )/, '$1#')].filter(
    (shape) => shape !== key,
  );

interface Edge {
  page: number;
  line: PageLine;
}

/** Returns the pages without the lines that repeat in their margins. A line with numbers repeats if one of them counts the pages. */
export function withoutMargins(pages: readonly PageLine[][]): PageLine[][] {
  const groups = new Map<string, Edge[]>();
  for (const [page, lines] of pages.entries())
    for (const line of edgesOf(lines)) {
      const key = `${(line.place ?? 0) > 0.5 ? '+' : '-'}${shapeOf(line.text)}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [{ page, line }]);
      else group.push({ page, line });
    }
  const dropped = new Set<PageLine>();
  const repeated: string[] = [];
  for (const [key, group] of groups)
    if (isRepeated(group, pages.length)) {
      repeated.push(key);
      for (const { line } of group) dropped.add(line);
    }
  for (const [key, group] of groups)
    if (isMadeOf(key, repeated) || romanShapes(key).some((shape) => repeated.includes(shape)))
      for (const { line } of group) dropped.add(line);
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
  if (!isSame && !counts(group) && !grows(group)) return false;
  return pages === 2 ? !isSame : on >= 3 && on >= leastShare * pages;
}

/** Most parts of the header of one page that are lines of their own on others. */
const mostParts = 4;

/** Whether a line consists of several that repeat in the same margin: their distance may differ from page to page. */
function isMadeOf(key: string, repeated: readonly string[]): boolean {
  let rest = key.slice(1);
  for (let part = 0; part < mostParts && rest !== ''; part++) {
    const found = repeated.find((other) => other[0] === key[0] && rest.startsWith(other.slice(1)));
    if (found === undefined || found.length < 2) return false;
    rest = rest.slice(found.length - 1).trim();
  }
  return rest === '';
}

/** Lines of one place, as a part of the page's height. */
const samePlace = 0.004;

/** Whether lines of one place, such as "Chapter 3", have numbers that repeat and grow. */
function grows(group: readonly Edge[]): boolean {
  const places = group.map(({ line }) => line.place ?? 0);
  if (Math.max(...places) - Math.min(...places) > samePlace) return false;
  const rows = group.map(({ line }) => line.text.match(number) ?? []);
  const pairs = rows.slice(1).map((row, at) => row.map((value, n) => Number(value) - Number(rows[at]?.[n])));
  return (
    pairs.every((steps) => steps.every((step) => step >= 0)) &&
    pairs.some((steps) => steps.every((step) => step === 0))
  );
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
