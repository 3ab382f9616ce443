import type { Document } from '../../document.js';
import { MarkedBlocks, MarkedLines, short } from './marked-blocks.js';

const heading = /^(={1,6}|#{1,6})[ \t]+(\S.*)$/;
const delimiter = /^(?:-{4,}|\.{4,}|\/{4,}|\+{4,}|={4,}|\*{4,}|_{4,}|--|`{3}\w{0,30})[ \t]*$/;
const attributes = /^\[([^\]]{0,300})\][ \t]*$/;
const entry = /^:!?[\w-]{1,60}!?:/;

/** Reads AsciiDoc: headings, paragraphs, code and tables. */
export function readAsciiDoc(text: string): Document {
  const lines = new MarkedLines(text);
  const blocks = new MarkedBlocks();
  let language = '';
  while (!lines.isAtEnd) {
    const line = lines.next();
    const shown = short(line);
    const [, marks, title] = heading.exec(shown) ?? [];
    const stated = attributes.exec(shown)?.[1];
    if (marks !== undefined && !blocks.hasParagraph) {
      blocks.heading(marks.length, withoutMarks(title as string));
      if (marks.length === 1) skipAuthors(lines);
    } else if (stated !== undefined) {
      blocks.endParagraph();
      language = /^source[^,]*,\s*([\w+#-]{1,40})/.exec(stated)?.[1] ?? '';
    } else if (/^\|={3,}[ \t]*$/.test(shown)) blocks.table(rowsOf(linesOf(lines, shown.trimEnd())));
    else if (delimiter.test(shown)) addDelimited(shown.trimEnd(), language, lines, blocks);
    else if (isSetext(shown, lines.peek()) && !blocks.hasParagraph) {
      blocks.heading('=-~^+'.indexOf((lines.next().trimEnd() as string)[0] as string) + 1, shown.trim());
    } else if (line.trim() === '') blocks.endParagraph();
    else if (!isUnseen(shown)) blocks.line(withoutMarks(line));
  }
  return blocks.finish();
}

/** The lines up to the mark that ends a block; all others if none does. */
const linesOf = (lines: MarkedLines, mark: string): string[] =>
  lines.until((line) => line.trimEnd() === mark) ?? lines.while(() => true);

function addDelimited(mark: string, language: string, lines: MarkedLines, blocks: MarkedBlocks): void {
  if (/^\/{4}/.test(mark)) linesOf(lines, mark);
  else if (/^(?:-{4}|\.{4}|\+{4})/.test(mark)) blocks.code(linesOf(lines, mark), language);
  else if (mark.startsWith('```')) blocks.code(linesOf(lines, '```'), mark.slice(3) || language);
  // Of quotations, examples and sidebars, the marks alone are no text.
  else blocks.endParagraph();
}

/** The line of authors and the line of the revision below the title. */
function skipAuthors(lines: MarkedLines): void {
  while (entry.test(short(lines.peek()))) lines.skip(1);
  if (/^[\p{L}][^<>]{0,100}<[^<>\s]{3,100}>/u.test(short(lines.peek()))) {
    lines.skip(1);
    if (/^v?\d[\w.-]{0,30}[,:]?/.test(short(lines.peek()))) lines.skip(1);
  }
}

/** A heading with a line of its own length below it. */
const isSetext = (line: string, below: string | undefined) =>
  /^[\p{L}\p{N}]/u.test(line) &&
  /^([=\-~^+])\1{2,}[ \t]*$/.test(short(below)) &&
  Math.abs((below as string).trimEnd().length - line.trimEnd().length) <= 2;

/** Entries, comments, titles of blocks' attributes, and anchors. */
const isUnseen = (line: string) =>
  entry.test(line) || /^\/\/(?!\/)/.test(line) || /^(?:\+|'{3}|<<<)[ \t]*$/.test(line);

function rowsOf(lines: readonly string[]): string[][] {
  const rows: string[][][] = [];
  let columns = 0;
  // The parts of the texts of cells that are not in a row yet.
  let open: string[][] = [];
  for (const line of lines) {
    const cells = cellsOf(line);
    const hasSeveral = cells !== undefined && cells.length > 1;
    // Without stated columns, the first row has one line.
    if (columns === 0 && (line.trim() === '' || hasSeveral)) columns = open.length;
    if (cells !== undefined) for (const cell of cells) open.push([cell]);
    else if (line.trim() !== '') {
      if (open.length === 0) open.push([]);
      open.at(-1)?.push(line.trim());
    }
    let begin = 0;
    for (; columns > 0 && open.length - begin > columns; begin += columns)
      rows.push(open.slice(begin, begin + columns));
    if (columns > 0 && open.length - begin === columns && hasSeveral) {
      rows.push(open.slice(begin));
      begin = open.length;
    }
    if (begin > 0) open = open.slice(begin);
  }
  if (open.length > 0) rows.push(open);
  return rows.map((row) => row.map((parts) => parts.filter((part) => part !== '').join(' ')));
}

/** The cells of a line of a table, without what states their form; undefined for a line within a cell. */
function cellsOf(line: string): string[] | undefined {
  if (!/^[ \t]*[\d.+*<>^a-z]{0,10}\|/.test(line)) return undefined;
  return line
    .split('|')
    .slice(1)
    .map((cell) => cell.replace(/[ \t][\d.+*<>^]{1,10}[a-z]?$|[ \t][aehlmsd]$/, '').trim());
}

/** A link is its description. */
const withoutMarks = (line: string) =>
  /\[|:/.test(line)
    ? line
        .replace(
          /\b(?:link:|xref:|mailto:)[^\s[\]]{1,300}\[([^\]]{0,300})\]/g,
          (whole, text) => text || whole,
        )
        .replace(/\bimage::?[^\s[\]]{1,300}\[([^\],]{0,300})[^\]]{0,300}\]/g, '$1')
        .replace(/<<[^<>,]{1,200},([^<>]{1,500})>>/g, '$1')
    : line;
