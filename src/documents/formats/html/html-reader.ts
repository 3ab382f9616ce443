import type { Block } from '../../document.js';
import { UnreadableDocument } from '../../document.js';
import type { SectionBuilder } from '../section-builder.js';
import { blockElements, captions, drawnNotes, drawnText, isBlock, isDropped, replaced } from './elements.js';
import { TableGrid } from './table.js';

/** The parser's time grows with the square of the depth. */
const maxDepth = 2000;

interface OpenElement {
  readonly name: string;
  readonly isDropped: boolean;
}

const headingLevel = (name: string) => (/^h[1-6]$/.test(name) ? Number(name[1]) : undefined);

/** Receives the elements of a page from a parser and gives the text that a browser would show to a SectionBuilder. */
export class HtmlReader {
  readonly #sections: SectionBuilder;
  readonly #open: OpenElement[] = [];
  readonly #tables: TableGrid[] = [];
  /** The next number of each open list; undefined in lists without numbers. */
  readonly #lists: (number | undefined)[] = [];
  /** Open elements that are dropped, and open elements in which controls count. */
  #dropped = 0;
  #captions = 0;
  /** Open drawings, and open elements within them whose text is shown. */
  #drawings = 0;
  #drawnTexts = 0;
  #heading: number | undefined;
  #title: string | undefined;
  #inTitle = false;
  #pre = 0;
  #language = '';
  #mark = '';
  #kind: Block['kind'] = 'prose';
  #text: string[] = [];
  /** The readings of the open ruby element, which follow its text; undefined outside of one. */
  #readings: string[] | undefined;
  /** Parts of a ruby element that are no part of its text: `rp` has the brackets for old browsers. */
  #inPart: 'rt' | 'rp' | undefined;

  constructor(sections: SectionBuilder) {
    this.#sections = sections;
  }

  /** Whether an open element hides what follows. */
  get isHiding(): boolean {
    return this.#dropped > 0;
  }

  onopentag(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#open.length >= maxDepth) throw new UnreadableDocument('its elements are nested too deeply');
    const dropped =
      isDropped(name, attributes, this.#captions > 0) || (this.#drawings > 0 && drawnNotes.has(name));
    this.#open.push({ name, isDropped: dropped });
    if (dropped) {
      // An icon or a script within a sentence does not end it.
      if (this.#dropped === 0 && this.#captions === 0 && isBlock(name)) this.endBlock();
      else if (this.#dropped === 0 && replaced.has(name)) this.#text.push(' ');
      this.#dropped++;
    }
    if (this.#dropped > 0 || this.#draws(name, 1)) return;
    if (captions.has(name)) this.#captions++;
    if (name === 'title') this.#openTitle();
    else if (headingLevel(name) !== undefined) this.#openHeading(name);
    else if (name === 'ruby') this.#readings = [];
    else if ((name === 'rt' || name === 'rp') && this.#readings !== undefined) this.#inPart = name;
    else if (name === 'br') this.#text.push(this.#pre > 0 ? '\n' : ' ');
    else if (name === 'code' && this.#pre > 0) this.#language = languageOf(attributes);
    else if (blockElements.has(name)) this.#openBlock(name, attributes);
  }

  ontext(text: string): void {
    if (this.#inTitle) this.#title = ((this.#title ?? '') + text).slice(0, 1000);
    else if (this.#dropped > 0 || (this.#drawings > 0 && this.#drawnTexts === 0)) return;
    else if (this.#inPart === 'rt') this.#readings?.push(text);
    else if (this.#inPart === 'rp') return;
    else this.#text.push(text);
  }

  onclosetag(name: string): void {
    const open = this.#open.pop();
    if (open?.isDropped) this.#dropped--;
    if (this.#dropped > 0 || open?.isDropped || this.#draws(name, -1)) return;
    if (name === 'rt' || name === 'rp') this.#inPart = undefined;
    if (name === 'ruby') this.#closeRuby();
    if (captions.has(name)) this.#captions--;
    if (name === 'title') this.#inTitle = false;
    else if (headingLevel(name) !== undefined) this.#closeHeading();
    else if (blockElements.has(name)) this.#closeBlock(name);
  }

  /** Opens or closes a drawing or a part of one; false for other elements, and for those in a text within a drawing. */
  #draws(name: string, change: 1 | -1): boolean {
    const isText = this.#drawings > 0 && drawnText.has(name.toLowerCase());
    if (name === 'svg') this.#drawings += change;
    else if (isText) this.#drawnTexts += change;
    else return this.#drawings > 0 && this.#drawnTexts === 0;
    this.#text.push(' ');
    return true;
  }

  /** Adds a block between elements: to the open cell if there is one. */
  add(block: Block): void {
    if (this.#dropped > 0) return;
    if (this.#tables.at(-1)?.inCell) this.#text.push(' ', block.text, ' ');
    else {
      this.endBlock();
      this.#sections.add(block);
    }
  }

  /** Ends the open block; the elements stay open. */
  endBlock(): void {
    if (this.#heading !== undefined) return;
    if (this.#tables.at(-1)?.inRow) {
      this.#text.push(' ');
      return;
    }
    const text = this.#take();
    if (this.#pre > 0) {
      const code = text.replace(/^\n+/, '').trimEnd();
      this.#sections.add({ kind: 'code', text: code, head: this.#language });
      return;
    }
    const shown = spaced(text);
    if (shown === '') return;
    this.#sections.add({ kind: this.#kind, text: this.#mark === '' ? shown : `${this.#mark} ${shown}` });
    this.#mark = '';
  }

  /** Ends the page. */
  finish(): void {
    while (this.#tables.length > 0) this.#closeTable();
    this.#closeHeading();
    this.endBlock();
    if (this.#title !== undefined) this.#sections.titleIfNone(this.#title);
  }

  /** The readings stand behind the whole word, so that it is found. */
  #closeRuby(): void {
    const reading = (this.#readings ?? []).map((text) => text.trim()).join('');
    this.#readings = undefined;
    this.#inPart = undefined;
    if (reading !== '') this.#text.push(`(${reading})`);
  }

  #openTitle(): void {
    this.#inTitle = this.#title === undefined;
  }

  #openHeading(name: string): void {
    this.#interruptRow();
    this.endBlock();
    this.#heading = headingLevel(name);
  }

  #closeHeading(): void {
    if (this.#heading === undefined) return;
    const text = this.#take();
    this.#sections.heading(this.#heading, text);
    this.#heading = undefined;
    this.#kind = 'prose';
    this.#mark = '';
  }

  #openBlock(name: string, attributes: Readonly<Record<string, string>>): void {
    const table = this.#tables.at(-1);
    if (name === 'table') this.#openTable();
    else if (name === 'thead' && table !== undefined) table.inHead = true;
    else if (name === 'tr') this.#openRow();
    else if (name === 'td' || name === 'th') this.#openCell(name, attributes);
    else {
      this.endBlock();
      if (name === 'pre') this.#openPre(attributes);
      else if (name === 'ol' || name === 'ul' || name === 'menu') this.#openList(name, attributes);
      else if (name === 'li') this.#openItem(attributes);
      else if (name === 'hr') this.#kind = this.#lists.length > 0 ? 'item' : 'prose';
    }
  }

  #closeBlock(name: string): void {
    const table = this.#tables.at(-1);
    if (name === 'table') this.#closeTable();
    else if (name === 'thead' && table !== undefined) table.inHead = false;
    else if (name === 'tr') this.#closeRow();
    else if (name === 'td' || name === 'th') this.#closeCell();
    else {
      this.endBlock();
      if (name === 'pre') this.#pre = Math.max(0, this.#pre - 1);
      else if (name === 'ol' || name === 'ul' || name === 'menu') {
        this.#lists.pop();
        this.#kind = this.#lists.length > 0 ? 'item' : 'prose';
        this.#mark = '';
      } else if (name === 'li') {
        this.#mark = '';
        if (this.#lists.length === 0) this.#kind = 'prose';
      }
    }
  }

  #openPre(attributes: Readonly<Record<string, string>>): void {
    this.#pre++;
    this.#language = languageOf(attributes);
  }

  #openList(name: string, { start }: Readonly<Record<string, string>>): void {
    const first = Number.parseInt(start ?? '1', 10);
    this.#lists.push(name === 'ol' ? (Number.isNaN(first) ? 1 : first) : undefined);
    this.#kind = 'item';
  }

  #openItem({ value }: Readonly<Record<string, string>>): void {
    this.#kind = 'item';
    const at = this.#lists.length - 1;
    const stated = Number.parseInt(value ?? '', 10);
    const next = this.#lists[at];
    const number = next === undefined || Number.isNaN(stated) ? next : stated;
    this.#mark = number === undefined ? '-' : `${number}.`;
    if (number !== undefined) this.#lists[at] = number + 1;
  }

  #openTable(): void {
    this.#interruptRow();
    this.endBlock();
    this.#tables.push(new TableGrid());
  }

  #openRow(): void {
    if (this.#tables.length === 0) this.#openTable();
    this.#closeRow();
    this.#tables.at(-1)?.openRow();
  }

  #openCell(name: 'td' | 'th', attributes: Readonly<Record<string, string>>): void {
    const table = this.#tables.at(-1);
    if (table === undefined || !table.inRow) this.#openRow();
    this.#closeCell();
    this.#tables.at(-1)?.openCell(name === 'th', attributes);
  }

  #closeCell(): void {
    const table = this.#tables.at(-1);
    if (table?.inCell) table.closeCell(spaced(this.#take()));
  }

  #closeRow(): void {
    const table = this.#tables.at(-1);
    if (table === undefined || !table.inRow) {
      this.endBlock();
      return;
    }
    const stray = table.inCell ? '' : spaced(this.#take());
    this.#closeCell();
    const row = table.closeRow();
    if (stray !== '') this.#sections.add({ kind: 'prose', text: stray });
    if (row === undefined) return;
    if (row.isHead && table.head === undefined && !table.hasRows) table.head = row.text;
    else this.#addRow(table, row.text);
  }

  #closeTable(): void {
    this.#closeRow();
    const table = this.#tables.pop();
    if (table?.head !== undefined && !table.hasRows) this.#sections.add({ kind: 'row', text: table.head });
  }

  #addRow(table: TableGrid, text: string): void {
    table.hasRows = true;
    this.#sections.add({ kind: 'row', text, ...(table.head !== undefined && { head: table.head }) });
  }

  /** Adds what the open row has so far. */
  #interruptRow(): void {
    const table = this.#tables.at(-1);
    if (!table?.inCell) return;
    const text = table.interrupt(spaced(this.#take()));
    if (text !== '') this.#addRow(table, text);
  }

  #take(): string {
    const text = this.#text.join('');
    this.#text = [];
    return text.replaceAll('\u00AD', '');
  }
}

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim();

function languageOf({ class: classes = '' }: Readonly<Record<string, string>>): string {
  return /(?:^|\s)lang(?:uage)?-([\w#+.-]{1,40})/.exec(classes.slice(0, 200))?.[1] ?? '';
}
