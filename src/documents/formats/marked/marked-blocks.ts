import type { Block, Document } from '../../document.js';
import { CsvReader } from '../../tables/csv-rows.js';
import { SectionBuilder } from '../section-builder.js';

/** Longest line that may be a mark, such as a heading. */
const longestMark = 300;

/** A line as it is looked at for marks: "" for one that is too long. */
export const short = (line: string | undefined): string =>
  line === undefined || line.length > longestMark ? '' : line;

/** A text whose blocks have no ends is looked through this many times. */
const mostWasted = 4;

/** The lines of a marked text, read from the first to the last. */
export class MarkedLines {
  readonly #lines: readonly string[];
  #at = 0;
  /** Lines that were looked at for ends that there are not. */
  #wasted = 0;

  constructor(text: string) {
    this.#lines = text.split(/\r\n?|\n|\f/);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#lines.length;
  }

  /** A line after the present one, without moving on. */
  peek(offset = 0): string | undefined {
    return this.#lines[this.#at + offset];
  }

  next(): string {
    return this.#lines[this.#at++] ?? '';
  }

  skip(count: number): void {
    this.#at += count;
  }

  /** Returns the lines up to one that ends a block, which is dropped; undefined, without moving on, if none does. */
  until(isEnd: (line: string) => boolean): string[] | undefined {
    if (this.#wasted > mostWasted * this.#lines.length) return undefined;
    for (let end = this.#at; end < this.#lines.length; end++) {
      if (!isEnd(this.#lines[end] as string)) continue;
      const lines = this.#lines.slice(this.#at, end);
      this.#at = end + 1;
      return lines;
    }
    this.#wasted += this.#lines.length - this.#at;
    return undefined;
  }

  /** Returns the next lines as long as they belong to a block. */
  while(belongs: (line: string, offset: number) => boolean): string[] {
    const begin = this.#at;
    while (!this.isAtEnd && belongs(this.#lines[this.#at] as string, this.#at - begin)) this.#at++;
    return this.#lines.slice(begin, this.#at);
  }
}

const item = /^\s*(?:[-*+.]{1,6}|\d{1,9}[.)]|#\.)[ \t]/;

/** A row whose cells get their texts line by line: joined anew for each, they would take the square of their number. */
export class GrowingRow {
  readonly #cells: string[][] = [];

  /** Adds a text to a cell, after a space. */
  add(cell: number, text: string): void {
    while (this.#cells.length <= cell) this.#cells.push([]);
    const shown = text.trim();
    if (shown !== '') this.#cells[cell]?.push(shown);
  }

  get texts(): string[] {
    return this.#cells.map((parts) => parts.join(' '));
  }
}

/** The text of a cell in one line. */
export const joined = (parts: readonly string[]) => parts.join(' ').replace(/\s+/g, ' ').trim();

/** A longer text is not repeated in the rows that its cell spans. */
export const longestRepeated = 200;

/** The rows of lines whose cells a separator divides, as in CSV. */
export function separatedRows(lines: readonly string[], separator: string): string[][] {
  const reader = new CsvReader(separator);
  const rows = [...reader.push(lines.join('\n')), ...reader.end()];
  return rows.map(({ cells }) => cells.map((cell) => joined([cell])));
}

/** Collects the headings, paragraphs, code and tables of a marked text. */
export class MarkedBlocks {
  readonly #sections = new SectionBuilder();
  #paragraph: string[] = [];

  get hasParagraph(): boolean {
    return this.#paragraph.length > 0;
  }

  heading(level: number, text: string): void {
    this.endParagraph();
    this.#sections.heading(level, text);
  }

  /** Adds a line to the open paragraph. An item is a block of its own. */
  line(line: string): void {
    if (item.test(short(line))) this.endParagraph();
    this.#paragraph.push(line.trimEnd());
  }

  endParagraph(): void {
    const text = this.#paragraph.join('\n').trimEnd();
    const kind: Block['kind'] = item.test(short(this.#paragraph[0])) ? 'item' : 'prose';
    this.#paragraph = [];
    if (text.trim() !== '') this.#sections.add({ kind, text });
  }

  /** Adds lines as code, without the white space that begins all of them. */
  code(lines: readonly string[], language = ''): void {
    this.endParagraph();
    const filled = lines.filter((line) => line.trim() !== '');
    const indent = filled.reduce(
      (least, line) => Math.min(least, line.length - line.trimStart().length),
      Number.POSITIVE_INFINITY,
    );
    const text = lines.map((line) => line.slice(Number.isFinite(indent) ? indent : 0)).join('\n');
    this.#sections.add({ kind: 'code', text: text.replace(/^\n+/, '').trimEnd(), head: language });
  }

  /** Adds rows of cells; the first row names the columns. */
  table(rows: readonly (readonly string[])[]): void {
    this.endParagraph();
    const texts = rows
      .filter((cells) => cells.some((cell) => cell !== ''))
      .map((cells) => cells.map((cell) => cell.trim()).join(' | '));
    const [head, ...others] = texts;
    if (head === undefined) return;
    if (others.length === 0) this.#sections.add({ kind: 'row', text: head });
    for (const text of others) this.#sections.add({ kind: 'row', text, head });
  }

  finish(): Document {
    this.endParagraph();
    return this.#sections.finish();
  }
}
