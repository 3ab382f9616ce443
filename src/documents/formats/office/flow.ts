import type { Block } from '../../document.js';
import type { SectionBuilder } from '../section-builder.js';

const spaced = (text: string) => text.replace(/[ \t\n\r]+/g, ' ').trim();

/** A text that stands beside a paragraph, such as a note. */
interface Aside {
  /** Text of the paragraph around it, so far. */
  readonly around: string[];
  readonly paragraphs: string[];
}

/**
 * Collects the paragraphs and tables of a text document. Cells of nested tables belong to the outer cell. Notes, comments and text
 * boxes follow the paragraph that they stand beside.
 */
export class Flow {
  readonly #sections: SectionBuilder;
  readonly #asides: Aside[] = [];
  #text: string[] = [];
  #beside: string[] = [];
  #tables = 0;
  #rows: string[][] = [];
  #cell: string[] | undefined;

  constructor(sections: SectionBuilder) {
    this.#sections = sections;
  }

  text(text: string): void {
    this.#text.push(text);
  }

  /** Adds a text that follows the open paragraph. */
  beside(text: string): void {
    const shown = spaced(text);
    if (shown !== '') this.#beside.push(shown);
  }

  /** Begins a text that follows the open paragraph. */
  openAside(): void {
    this.#asides.push({ around: this.#text, paragraphs: [] });
    this.#text = [];
  }

  /** `label` begins the text. */
  closeAside(label = ''): void {
    const aside = this.#asides.pop();
    if (aside === undefined) return;
    const { around, paragraphs } = aside;
    const all = [...paragraphs, spaced(this.#text.join(''))].filter((text) => text !== '');
    for (const [at, text] of all.entries()) this.beside(at === 0 ? `${label}${text}` : text);
    this.#text = around;
  }

  /** Ends a paragraph; `level` makes it a heading. */
  endParagraph(level: number | undefined, mark: string): void {
    const text = spaced(this.#text.join(''));
    this.#text = [];
    const aside = this.#asides.at(-1);
    if (aside !== undefined) {
      aside.paragraphs.push(text);
      return;
    }
    const beside = this.#beside;
    this.#beside = [];
    if (this.#cell !== undefined) {
      for (const part of [text, ...beside]) if (part !== '') this.#cell.push(part);
    } else {
      if (text !== '' && level !== undefined) this.#sections.heading(level, text);
      else if (text !== '')
        this.#sections.add({
          kind: mark === '' ? 'prose' : 'item',
          text: mark === '' ? text : `${mark} ${text}`,
        });
      for (const note of beside) this.#sections.add({ kind: 'prose', text: note });
    }
  }

  /** Ends a paragraph that is not of the document. */
  dropParagraph(): void {
    this.#text = [];
    this.#beside = [];
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

  /** Ends a cell. */
  closeCell({ columns = 1, isRepeated = false, continues = false }: CellSpan = {}): void {
    if (this.#tables !== 1) return;
    const row = this.#rows.at(-1);
    const text = (this.#cell ?? []).join(' ');
    for (let at = 0; at < Math.min(columns, maxColumns); at++) {
      const above = continues ? (this.#rows.at(-2)?.[row?.length ?? 0] ?? '') : '';
      const shown = at === 0 || isRepeated ? text : '';
      row?.push(shown === '' && above.length <= longestRepeated ? above : shown);
    }
    this.#cell = undefined;
  }

  closeTable(): void {
    this.#tables = Math.max(0, this.#tables - 1);
    if (this.#tables > 0) return;
    addRows(this.#rows, this.#sections);
    this.#rows = [];
  }
}

/** The columns of a cell. */
interface CellSpan {
  columns?: number;
  /** Each of the columns has the text. */
  isRepeated?: boolean;
  /** It is a part of the cell above it. */
  continues?: boolean;
}

const maxColumns = 100;

/** A longer text is not repeated in the rows that its cell spans. */
const longestRepeated = 200;

/** Adds the rows of a table, whose first row is the head of its columns. */
export function addRows(rows: readonly (readonly string[])[], sections: SectionBuilder): void {
  for (const row of tableRows(rows)) sections.add(row);
}

/** Returns the rows of a table, whose first row is the head of its columns. */
export function tableRows(rows: readonly (readonly string[])[]): Block[] {
  const texts = rows
    .filter((row) => row.some((cell) => cell !== ''))
    .map((row) => row.slice(0, 1 + row.findLastIndex((cell) => cell !== '')).join(' | '));
  const [head, ...others] = texts;
  if (head === undefined) return [];
  if (others.length === 0) return [{ kind: 'row', text: head }];
  return others.map((text) => ({ kind: 'row', text, head }));
}
