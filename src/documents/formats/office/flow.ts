import type { SectionBuilder } from '../section-builder.js';

const spaced = (text: string) => text.replace(/[ \t\n\r]+/g, ' ').trim();

/** Collects the paragraphs and tables of a text document. Cells of nested tables belong to the outer cell. */
export class Flow {
  readonly #sections: SectionBuilder;
  #text: string[] = [];
  #tables = 0;
  #rows: string[][] = [];
  #cell: string[] | undefined;

  constructor(sections: SectionBuilder) {
    this.#sections = sections;
  }

  text(text: string): void {
    this.#text.push(text);
  }

  /** Ends a paragraph; `level` makes it a heading. */
  endParagraph(level: number | undefined, mark: string): void {
    const text = spaced(this.#text.join(''));
    this.#text = [];
    if (text === '') return;
    if (this.#cell !== undefined) this.#cell.push(text);
    else if (level !== undefined) this.#sections.heading(level, text);
    else
      this.#sections.add({
        kind: mark === '' ? 'prose' : 'item',
        text: mark === '' ? text : `${mark} ${text}`,
      });
  }

  openTable(): void {
    if (this.#tables++ === 0) this.#rows = [];
  }

  openRow(): void {
    if (this.#tables === 1) this.#rows.push([]);
  }

  openCell(): void {
    if (this.#tables === 1) this.#cell = [];
  }

  /** Ends a cell, which may span columns. */
  closeCell(columns = 1): void {
    if (this.#tables !== 1) return;
    const row = this.#rows.at(-1);
    row?.push((this.#cell ?? []).join(' '));
    for (let at = 1; at < Math.min(columns, maxColumns); at++) row?.push('');
    this.#cell = undefined;
  }

  closeTable(): void {
    this.#tables = Math.max(0, this.#tables - 1);
    if (this.#tables > 0) return;
    addRows(this.#rows, this.#sections);
    this.#rows = [];
  }
}

const maxColumns = 100;

/** Adds the rows of a table, whose first row is the head of its columns. */
export function addRows(rows: readonly (readonly string[])[], sections: SectionBuilder): void {
  const texts = rows
    .filter((row) => row.some((cell) => cell !== ''))
    .map((row) => row.slice(0, 1 + row.findLastIndex((cell) => cell !== '')).join(' | '));
  const [head, ...others] = texts;
  if (head === undefined) return;
  if (others.length === 0) sections.add({ kind: 'row', text: head });
  for (const text of others) sections.add({ kind: 'row', text, head });
}
