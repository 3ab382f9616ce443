import { UnreadableDocument } from '../document.js';

/** Longest row in characters; the file of a longer one is not a table. */
export const maxRowCharacters = 4 * 1024 * 1024;

/** A row and the line of the file on which it begins, from 1. */
export interface CsvRow {
  line: number;
  cells: string[];
  /** A quote in it is not closed, and was read as a character. */
  isOpen?: true;
}

/**
 * Reads rows as RFC 4180 has them: quoted cells may hold separators, line ends and doubled quotes. A quote that is not closed, or
 * only in the middle of a later cell, is a character.
 */
export class CsvReader {
  readonly #separator: string;
  #line = 1;
  #rowLine = 1;
  #cells: string[] = [];
  #cell: string[] = [];
  #state: 'begin' | 'plain' | 'quoted' | 'closed' = 'begin';
  #characters = 0;
  #afterReturn = false;
  /** The line of the quote that is open. */
  #quoteLine = 1;
  #hasOpenQuote = false;
  #isOpenRow = false;

  constructor(separator: string) {
    this.#separator = separator;
  }

  /** Returns the rows that the text completes. @throws UnreadableDocument for a row that is too long */
  push(text: string): CsvRow[] {
    const rows: CsvRow[] = [];
    for (let at = 0; at < text.length; ) at = this.#step(text, at, rows);
    return rows;
  }

  /** Returns the last row, unless the file ended with a line end. @throws UnreadableDocument for a row that is too long */
  end(): CsvRow[] {
    const rows: CsvRow[] = [];
    if (this.#state === 'quoted') this.#readWithoutQuote('', rows);
    if (this.#cells.length > 0 || this.#state !== 'begin') this.#finishRow(rows);
    return rows;
  }

  /** Reads the open quote as a character, and what follows it anew. There, quoted cells end on their lines. */
  #readWithoutQuote(following: string, rows: CsvRow[]): void {
    const text = this.#cell.join('') + following;
    this.#cell = ['"'];
    this.#characters = 0;
    this.#line = this.#quoteLine;
    this.#isOpenRow = true;
    this.#state = 'plain';
    this.#hasOpenQuote = true;
    for (let at = 0; at < text.length; ) at = this.#step(text, at, rows);
    this.#hasOpenQuote = false;
  }

  /** Whether the quote at `at` begins a quoted cell. */
  #isQuote(text: string, at: number): boolean {
    if (this.#state === 'plain') return false;
    if (!this.#hasOpenQuote || this.#state === 'closed') return true;
    const end = text.indexOf('"', at + 1);
    const lineEnd = text.indexOf('\n', at);
    return end >= 0 && (lineEnd < 0 || end < lineEnd);
  }

  /** Consumes one character, or all up to the next that means something. */
  #step(text: string, at: number, rows: CsvRow[]): number {
    const character = text[at] as string;
    const wasReturn = this.#afterReturn;
    this.#afterReturn = false;
    if (this.#state === 'quoted') return this.#quoted(text, at, rows);
    if (character === '\n' && wasReturn) return at + 1;
    if (character === '\n' || character === '\r') {
      this.#afterReturn = character === '\r';
      this.#line++;
      this.#finishRow(rows);
    } else if (character === this.#separator) this.#finishCell();
    else if (character === '"' && this.#isQuote(text, at)) {
      // Two quotes within a quoted cell are one.
      if (this.#state === 'closed') this.#add('"');
      else this.#quoteLine = this.#line;
      this.#state = 'quoted';
    } else if (this.#state === 'closed' && this.#line > this.#quoteLine && !this.#hasOpenQuote) {
      const end = this.#endOfLine(text, at);
      this.#readWithoutQuote(`"${text.slice(at, end)}`, rows);
      return end;
    } else {
      const end = this.#endOfPlain(text, at);
      this.#add(text.slice(at, end));
      this.#state = 'plain';
      return end;
    }
    return at + 1;
  }

  #quoted(text: string, at: number, rows: CsvRow[]): number {
    const found = text.indexOf('"', at);
    const end = found < 0 ? text.length : found;
    const part = text.slice(at, end);
    if (!this.#hasOpenQuote && this.#characters + part.length > maxRowCharacters) {
      this.#readWithoutQuote('', rows);
      return at;
    }
    this.#add(part);
    this.#line += part.split('\n').length - 1;
    if (found < 0) return end;
    this.#state = 'closed';
    return end + 1;
  }

  #endOfLine(text: string, begin: number): number {
    const end = text.slice(begin).search(/[\r\n]/);
    return end < 0 ? text.length : begin + end;
  }

  #endOfPlain(text: string, begin: number): number {
    let at = begin + 1;
    while (at < text.length && text[at] !== this.#separator && text[at] !== '\n' && text[at] !== '\r') at++;
    return at;
  }

  #add(part: string): void {
    this.#characters += part.length;
    if (this.#characters > maxRowCharacters)
      throw new UnreadableDocument(
        `line ${this.#rowLine}: the row has more than ${maxRowCharacters} characters`,
      );
    this.#cell.push(part);
  }

  #finishCell(): void {
    this.#cells.push(this.#cell.join(''));
    this.#cell = [];
    this.#state = 'begin';
    // An empty cell takes memory, too.
    this.#characters++;
    if (this.#cells.length > maxCells)
      throw new UnreadableDocument(`line ${this.#rowLine}: the row has more than ${maxCells} cells`);
  }

  #finishRow(rows: CsvRow[]): void {
    const isBlank = this.#cells.length === 0 && this.#state === 'begin';
    if (!isBlank) {
      this.#finishCell();
      rows.push({
        line: this.#rowLine,
        cells: this.#cells,
        ...(this.#isOpenRow && { isOpen: true as const }),
      });
    }
    this.#cells = [];
    this.#isOpenRow = false;
    this.#state = 'begin';
    this.#characters = 0;
    this.#rowLine = this.#line;
  }
}

const maxCells = 10_000;
