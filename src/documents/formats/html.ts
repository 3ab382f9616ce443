import { type Block, type Document, UnreadableDocument } from '../document.js';
import { optionalPackage } from './optional-package.js';
import { SectionBuilder } from './section-builder.js';

/** The part of htmlparser2 that is used. */
interface HtmlParser {
  Parser: new (
    handler: {
      onopentag(name: string, attributes: Record<string, string>): void;
      ontext(text: string): void;
      onclosetag(name: string): void;
    },
    options: { decodeEntities: boolean; lowerCaseTags: boolean },
  ) => { write(text: string): void; end(): void };
}

const skipped = new Set(
  'script style noscript noframes noembed template svg math iframe object canvas nav footer button select label textarea datalist'.split(
    ' ',
  ),
);
const blocks = new Set(
  'address article aside blockquote dd details div dl dt fieldset figcaption figure form header hr li main ol p pre section summary table tbody td tfoot th thead tr ul body html head'.split(
    ' ',
  ),
);

/** The parser's time grows with the square of the depth. */
const maxDepth = 2000;

/** Reads the text of an HTML page: headings, paragraphs, list items, table rows, code. */
export async function readHtml(text: string): Promise<Document> {
  const { Parser } = (await optionalPackage('htmlparser2')) as HtmlParser;
  const reader = new HtmlReader();
  const parser = new Parser(reader, { decodeEntities: true, lowerCaseTags: true });
  parser.write(text);
  parser.end();
  return reader.finish();
}

class HtmlReader {
  readonly #sections = new SectionBuilder();
  /** Open elements whose text is dropped. */
  #skipped = 0;
  #depth = 0;
  #heading: number | undefined;
  #inTitle = false;
  #title = '';
  #pre = 0;
  #kind: Block['kind'] = 'prose';
  #cells: string[] | undefined;
  #head: string | undefined;
  #isHead = false;
  #text: string[] = [];

  onopentag(name: string): void {
    if (++this.#depth > maxDepth) throw new UnreadableDocument('its elements are nested too deeply');
    if (skipped.has(name)) {
      this.#finishBlock();
      this.#skipped++;
    } else if (name === 'title') this.#inTitle = true;
    else if (/^h[1-6]$/.test(name)) {
      this.#finishBlock();
      this.#heading = Number(name[1]);
    } else if (name === 'br') this.#text.push(this.#pre > 0 ? '\n' : ' ');
    else if (name === 'tr') this.#openRow();
    else if (name === 'td' || name === 'th') this.#openCell(name);
    else if (blocks.has(name)) this.#openBlock(name);
  }

  ontext(text: string): void {
    if (this.#inTitle) this.#title = (this.#title + text).slice(0, 1000);
    else if (this.#skipped === 0) this.#text.push(text);
  }

  onclosetag(name: string): void {
    this.#depth--;
    if (skipped.has(name)) this.#skipped = Math.max(0, this.#skipped - 1);
    else if (name === 'title') this.#inTitle = false;
    else if (/^h[1-6]$/.test(name)) this.#closeHeading();
    else if (name === 'tr') this.#closeRow();
    else if (name === 'table') this.#head = undefined;
    else if (blocks.has(name) && this.#cells === undefined) this.#finishBlock(name);
  }

  finish(): Document {
    if (this.#cells !== undefined) this.#closeRow();
    this.#finishBlock();
    this.#sections.title(this.#title);
    return this.#sections.finish();
  }

  #openBlock(name: string): void {
    if (this.#cells !== undefined) {
      this.#text.push(' ');
      return;
    }
    this.#finishBlock();
    if (name === 'pre') this.#pre++;
    if (name === 'table') this.#head = undefined;
    if (name === 'li') this.#kind = 'item';
  }

  #openRow(): void {
    this.#finishBlock();
    this.#cells = [];
    this.#isHead = true;
  }

  #openCell(name: 'td' | 'th'): void {
    if (this.#cells === undefined) this.#openRow();
    else this.#closeCell();
    if (name === 'td') this.#isHead = false;
  }

  #closeCell(): void {
    const text = this.#take().replace(/\s+/g, ' ').trim();
    if (text !== '') this.#cells?.push(text);
  }

  #closeRow(): void {
    this.#closeCell();
    const text = (this.#cells ?? []).join(' | ');
    this.#cells = undefined;
    if (text === '') return;
    if (this.#isHead && this.#head === undefined) this.#head = text;
    else this.#sections.add({ kind: 'row', text, ...(this.#head !== undefined && { head: this.#head }) });
  }

  #closeHeading(): void {
    const text = this.#take();
    if (this.#heading !== undefined) this.#sections.heading(this.#heading, text);
    this.#heading = undefined;
  }

  #take(): string {
    const text = this.#text.join('');
    this.#text = [];
    return text;
  }

  #finishBlock(closed?: string): void {
    const text = this.#take();
    if (this.#pre > 0) {
      this.#sections.add({ kind: 'code', text: text.replace(/^\n+/, '').trimEnd(), head: '' });
      if (closed === 'pre') this.#pre--;
    } else {
      const shown = text.replace(/\s+/g, ' ').trim();
      this.#sections.add({
        kind: this.#kind,
        text: this.#kind === 'item' && shown !== '' ? `- ${shown}` : shown,
      });
    }
    this.#kind = 'prose';
  }
}
