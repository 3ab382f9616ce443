/** Most columns that one cell may span. */
const maxColumns = 200;

/** A cell that spans more columns means all of them: the row ends with it. */
const allColumns = 30;

/** Most rows that one cell may span, as in browsers. */
const maxRows = 65_534;

/** A longer text is not repeated in the rows that its cell spans. */
const longestRepeated = 200;

interface Cell {
  readonly columns: number;
  readonly rows: number;
  readonly isHead: boolean;
}

/** A finished row. */
export interface TableRow {
  readonly text: string;
  /** All of its cells are heads. */
  readonly isHead: boolean;
}

/** Puts the cells of an HTML table into columns. */
export class TableGrid {
  /** Texts of cells that reach into the next rows, by column. */
  readonly #spans = new Map<number, { text: string; left: number }>();
  /** The head of the columns. */
  head: string | undefined;
  hasRows = false;
  inHead = false;
  #cells: string[] | undefined;
  #cell: Cell | undefined;
  #isHead = true;
  #spansAll = false;

  get inRow(): boolean {
    return this.#cells !== undefined;
  }

  get inCell(): boolean {
    return this.#cell !== undefined;
  }

  openRow(): void {
    this.#cells = [];
    this.#isHead = true;
    this.#spansAll = false;
  }

  openCell(isHead: boolean, attributes: Readonly<Record<string, string>>): void {
    if (this.#cells === undefined) this.openRow();
    this.#cell = {
      columns: span(attributes.colspan, maxColumns),
      // Zero: all rows that follow.
      rows: attributes.rowspan?.trim() === '0' ? maxRows : span(attributes.rowspan, maxRows),
      isHead,
    };
  }

  closeCell(text: string): void {
    const { columns, rows, isHead } = this.#cell ?? { columns: 1, rows: 1, isHead: false };
    const cells = this.#cells as string[];
    this.#fill(cells);
    const column = cells.length;
    if (columns > allColumns) this.#spansAll = true;
    for (let at = 0; at < columns && cells.length < maxColumns; at++) {
      const shown = at === 0 ? text : '';
      cells.push(shown);
      if (rows > 1)
        this.#spans.set(column + at, { text: shown.length > longestRepeated ? '' : shown, left: rows - 1 });
    }
    if (!isHead && !this.inHead) this.#isHead = false;
    this.#cell = undefined;
  }

  /** Ends the text of the open cell where another table or a heading begins within it. Returns the texts of the row so far. */
  interrupt(text: string): string {
    const cells = this.#cells as string[];
    const shown = [...cells, text].filter((cell) => cell !== '').join(' | ');
    cells.fill('');
    this.#isHead = false;
    return shown;
  }

  /** Returns the row; undefined if all of its cells are empty. */
  closeRow(): TableRow | undefined {
    const cells = this.#cells ?? [];
    if (cells.length > 0) this.#fill(cells);
    this.#cells = undefined;
    const isHead = this.#isHead && cells.length > 0;
    if (cells.every((cell) => cell === '')) return undefined;
    const last = cells.findLastIndex((cell) => cell !== '');
    return { text: cells.slice(0, this.#spansAll ? last + 1 : cells.length).join(' | '), isHead };
  }

  /** Adds the cells of earlier rows that reach into this one. */
  #fill(cells: string[]): void {
    for (
      let found = this.#spans.get(cells.length);
      found !== undefined;
      found = this.#spans.get(cells.length)
    ) {
      if (--found.left === 0) this.#spans.delete(cells.length);
      cells.push(found.text);
    }
  }
}

function span(text: string | undefined, most: number): number {
  const number = Number.parseInt(text ?? '1', 10);
  return number >= 1 ? Math.min(number, most) : 1;
}
