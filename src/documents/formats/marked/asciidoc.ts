import type { Document } from '../../document.js';
import { MarkedBlocks, MarkedLines, separatedRows, short } from './marked-blocks.js';
import { type SpanningCell, spannedRows } from './spanned-rows.js';

const heading = /^(={1,6}|#{1,6})[ \t]+(\S.*)$/;
const delimiter = /^(?:-{4,}|\.{4,}|\/{4,}|\+{4,}|={4,}|\*{4,}|_{4,}|--|`{3}\w{0,30})[ \t]*$/;
const attributes = /^\[([^\]]{0,300})\][ \t]*$/;
const anchor = /^\[\[[^[\]]{1,300}\]\][ \t]*$/;
const entry = /^:!?[\w-]{1,60}!?:/;
const value = /^:([\w-]{1,60}):[ \t]+(\S.{0,200})$/;

/** Reads AsciiDoc: headings, paragraphs, code and tables. */
export function readAsciiDoc(text: string): Document {
  const lines = new MarkedLines(text);
  const blocks = new MarkedBlocks();
  const values = new Map<string, string>();
  let [language, form] = ['', ''];
  while (!lines.isAtEnd) {
    const line = withValues(lines.next(), values);
    const shown = short(line);
    const [, marks, title] = heading.exec(shown) ?? [];
    const [, name, text] = value.exec(shown) ?? [];
    if (name !== undefined && text !== undefined) values.set(name, text);
    const stated = attributes.exec(shown)?.[1];
    if (marks !== undefined && !blocks.hasParagraph) {
      blocks.heading(marks.length, withoutMarks(title as string));
      if (marks.length === 1) addAuthors(lines, values, blocks);
    } else if (anchor.test(shown)) blocks.endParagraph();
    else if (stated !== undefined) {
      blocks.endParagraph();
      form = stated;
      language = /^source[^,]*,\s*([\w+#-]{1,40})/.exec(stated)?.[1] ?? '';
    } else if (table.test(shown)) {
      const inside = linesOf(lines, shown.trimEnd());
      const separator = separatorOf(shown, form);
      const columns = columnsOf(form);
      form = '';
      blocks.table(separator === undefined ? rowsOf(inside, columns) : separatedRows(inside, separator));
    } else if (delimiter.test(shown)) addDelimited(shown.trimEnd(), language, lines, blocks);
    else if (isSetext(shown, lines.peek()) && !blocks.hasParagraph) {
      blocks.heading('=-~^+'.indexOf((lines.next().trimEnd() as string)[0] as string) + 1, shown.trim());
    } else if (line.trim() === '') blocks.endParagraph();
    else if (!isUnseen(shown)) blocks.line(withoutMarks(line));
  }
  return blocks.finish();
}

const table = /^[|,:]={3,}[ \t]*$/;

/** The separator of the cells of a table in another form, such as CSV; undefined: bars begin its cells. */
function separatorOf(mark: string, form: string): string | undefined {
  const stated = /\bformat="?([ctd]sv)\b/.exec(form)?.[1] ?? (mark.startsWith(',') ? 'csv' : undefined);
  const usual = { csv: ',', tsv: '\t', dsv: ':' }[stated ?? (mark.startsWith(':') ? 'dsv' : '')];
  return usual === undefined ? undefined : (/\bseparator="?([^\s"\\])/.exec(form)?.[1] ?? usual);
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

/** Longest line in which the names of values are replaced. */
const longestReplaced = 10_000;

/** Puts the values that a document states in the places of their names, such as {version}. */
function withValues(line: string, values: ReadonlyMap<string, string>): string {
  if (values.size === 0 || line.length > longestReplaced || !line.includes('{')) return line;
  return line.replace(/(?<!\\)\{([\w-]{1,60})\}/g, (whole, name) => values.get(name) ?? whole);
}

/** The line of authors and the line of the revision below the title are a paragraph. */
function addAuthors(lines: MarkedLines, values: Map<string, string>, blocks: MarkedBlocks): void {
  for (; entry.test(short(lines.peek())); lines.skip(1)) {
    const [, name, text] = value.exec(short(lines.peek())) ?? [];
    if (name !== undefined && text !== undefined) values.set(name, text);
  }
  if (!/^[\p{L}][^<>]{0,100}<[^<>\s]{3,100}>/u.test(short(lines.peek()))) return;
  blocks.line(lines.next());
  if (/^v?\d[\w.-]{0,30}[,:]?/.test(short(lines.peek()))) blocks.line(lines.next());
  blocks.endParagraph();
}

/** A heading with a line of its own length below it. */
const isSetext = (line: string, below: string | undefined) =>
  /^[\p{L}\p{N}]/u.test(line) &&
  /^([=\-~^+])\1{2,}[ \t]*$/.test(short(below)) &&
  Math.abs((below as string).trimEnd().length - line.trimEnd().length) <= 2;

/** Entries, comments, conditions and other directives, breaks of sections and pages. */
const isUnseen = (line: string) =>
  entry.test(line) ||
  /^\/\/(?!\/)/.test(line) ||
  /^(?:\+|'{3,}|<<<)[ \t]*$/.test(line) ||
  directive.test(line);

const directive = /^(?:ifdef|ifndef|ifeval|endif|include|toc)::[^[\]]{0,200}\[[^\]]{0,200}\][ \t]*$/;

/** The number of columns that the form of a table states, as in cols="1,2a" and cols="3*"; 0: none. */
function columnsOf(form: string): number {
  const stated = /\bcols=(?:"([^"]{1,300})"|([^\s,"]{1,20}))/.exec(form);
  const columns = (stated?.[1] ?? stated?.[2] ?? '').split(/[,;]/);
  if (stated === null) return 0;
  return columns.reduce((sum, column) => sum + Number(/^\s*(\d{1,3})\*/.exec(column)?.[1] ?? 1), 0);
}

/** Returns the rows of a table. `stated`: its columns; 0: its first row shows them. */
function rowsOf(lines: readonly string[], stated: number): string[][] {
  const cells: SpanningCell[] = [];
  let columns = stated;
  const seen = () => cells.reduce((sum, cell) => sum + cell.columns, 0);
  for (const line of lines) {
    const found = cellsOf(line);
    // The first row ends with an empty line, or before a line of several cells.
    if (columns === 0 && (line.trim() === '' || (found?.length ?? 0) > 1)) columns = seen();
    if (found !== undefined) cells.push(...found);
    else if (cells.length === 0) cells.push({ parts: [line], columns: 1, rows: 1 });
    else cells.at(-1)?.parts.push(line);
  }
  return spannedRows(cells, columns || seen());
}

/** States the form of the cell after it: its copies or its span, its alignment and its style. */
const cellForm =
  '(?:(?<copies>\\d{1,2})\\*|(?:(?<columns>\\d{1,3})?(?:\\.(?<rows>\\d{1,3}))?\\+))?[<^>]?(?:\\.[<^>])?[aehlmsdv]?';
const beginOfCells = new RegExp(`^[ \\t]*${cellForm}\\|`);
const formAtEnd = new RegExp(`(?:^|[ \\t])${cellForm}$`);

/** The cells that begin in a line of a table; undefined for a line within a cell. */
function cellsOf(line: string): SpanningCell[] | undefined {
  if (!beginOfCells.test(line)) return undefined;
  const parts = line.split(/(?<!\\)\|/);
  return parts.slice(1).flatMap((part, at) => {
    const { copies = 1, columns = 1, rows = 1 } = formAtEnd.exec(parts[at] ?? '')?.groups ?? {};
    const isLast = at === parts.length - 2;
    const text = (isLast ? part : part.replace(formAtEnd, '')).replaceAll('\\|', '|');
    return Array.from({ length: Number(copies) }, () => ({
      parts: [text],
      columns: Number(columns),
      rows: Number(rows),
    }));
  });
}

/** A link is its description. */
const withoutMarks = (line: string) =>
  /\[|:/.test(line)
    ? line
        .replace(
          /\b(?:link:|xref:|mailto:|(?:https?|ftps?|irc):\/\/)[^\s[\]]{1,300}\[([^\]]{0,300})\]/g,
          (whole, text) => text || whole,
        )
        .replace(/\bimage::?[^\s[\]]{1,300}\[([^\],]{0,300})[^\]]{0,300}\]/g, '$1')
        .replace(/<<[^<>,]{1,200},([^<>]{1,500})>>/g, '$1')
    : line;
