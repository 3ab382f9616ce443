import type { Parser } from 'htmlparser2';
import type MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import type { Block, Document } from '../../document.js';
import { htmlParser } from '../html/html.js';
import { HtmlReader } from '../html/html-reader.js';
import { SectionBuilder } from '../section-builder.js';
import { type FrontMatter, frontMatterOf } from './front-matter.js';
import { visibleText } from './inline.js';
import { addMdx } from './mdx.js';
import { markdownParser } from './parser.js';

const parser = markdownParser();
const mdxParser = markdownParser().use(addMdx);

/** An id or classes that some generators of sites take at the end of a heading: `{#id .class}`, `{: #id}`. */
const attributes = /\s*\{:?\s*[#.][\w\s#.:="-]{1,100}\}$/;

/**
 * Reads Markdown: headings, paragraphs, list items, tables, code, and the HTML between them. Any text is Markdown. `sections`
 * receives the blocks.
 */
export function readMarkdown(text: string, sections = new SectionBuilder()): Document {
  return readBy(parser, text, sections);
}

/** Reads MDX as Markdown. Statements of modules and comments are left out; the text of components stays. */
export function readMdx(text: string): Document {
  return readBy(mdxParser, text, new SectionBuilder());
}

function readBy(parser: MarkdownIt, text: string, sections: SectionBuilder): Document {
  const front = frontMatterOf(text);
  const reader = new MarkdownReader(sections);
  reader.read(parser.parse(front?.rest ?? text, {}));
  return reader.finish(front?.matter);
}

/** Reads Markdown into a document that has other parts, too. */
export function addMarkdown(text: string, sections: SectionBuilder): void {
  const reader = new MarkdownReader(sections);
  reader.read(parser.parse(text, {}));
  reader.end();
}

class MarkdownReader {
  readonly #sections: SectionBuilder;
  readonly #html: HtmlReader;
  readonly #lists: { next: number | undefined }[] = [];
  /** Tokens of the notes by label, and the notes that were read. */
  readonly #notes = new Map<string, Token[]>();
  readonly #read = new Set<string>();
  #htmlParser: Parser | undefined;
  /** The mark of an item whose text has not begun. */
  #mark = '';
  #wanted: string[] = [];
  #heading: number | undefined;
  #cells: string[] = [];
  #head: string | undefined;
  #hasRows = false;
  #inCell = false;

  constructor(sections: SectionBuilder) {
    this.#sections = sections;
    this.#html = new HtmlReader(sections);
  }

  read(tokens: readonly Token[]): void {
    for (const token of this.#withoutNotes(tokens)) {
      this.#readToken(token);
      if (this.#wanted.length > 0 && isEndOfBlock(token)) this.#readWanted();
    }
    for (const label of this.#notes.keys()) this.#readNote(label);
  }

  /** Ends the text. */
  end(): void {
    this.#htmlParser?.end();
    this.#html.finish();
  }

  finish(matter: FrontMatter | undefined): Document {
    this.end();
    if (matter === undefined) return this.#sections.finish();
    const { title, description, tags, aliases } = matter;
    if (title !== undefined) this.#sections.title(title);
    if (description !== undefined) this.#sections.addFirst({ kind: 'prose', text: description });
    if (aliases.length > 0) this.#sections.addFirst({ kind: 'item', text: `Aliases: ${aliases.join(', ')}` });
    if (tags.length > 0) this.#sections.addFirst({ kind: 'item', text: `Tags: ${tags.join(', ')}` });
    const metadata = {
      ...(description !== undefined && { description }),
      ...(tags.length > 0 && { tags }),
      ...(aliases.length > 0 && { aliases }),
    };
    const document = this.#sections.finish();
    // A note without text is found by its title.
    const isEmpty = Array.isArray(document.sections) && document.sections.length === 0;
    const blocks: Block[] =
      isEmpty && document.title !== undefined ? [{ kind: 'prose', text: document.title }] : [];
    return {
      ...document,
      metadata,
      ...(blocks.length > 0 && { sections: [{ headings: [], anchor: '', blocks }] }),
    };
  }

  /** Keeps the tokens of notes apart. */
  #withoutNotes(tokens: readonly Token[]): Token[] {
    let label: string | undefined;
    const others: Token[] = [];
    for (const token of tokens) {
      if (token.type === 'footnote_reference_open') {
        label = String(token.meta.label);
        this.#notes.set(label, []);
      } else if (token.type === 'footnote_reference_close') label = undefined;
      else if (label === undefined) others.push(token);
      else this.#notes.get(label)?.push(token);
    }
    return others;
  }

  /** Reads the notes that the last block refers to. */
  #readWanted(): void {
    const labels = this.#wanted;
    this.#wanted = [];
    for (const label of labels) this.#readNote(label);
  }

  #readNote(label: string): void {
    if (this.#read.has(label)) return;
    this.#read.add(label);
    this.#mark = `[${label}]`;
    for (const token of this.#notes.get(label) ?? []) this.#readToken(token);
    this.#mark = '';
  }

  #readToken(token: Token): void {
    switch (token.type) {
      case 'heading_open':
        this.#heading = Number(token.tag[1]);
        break;
      case 'heading_close':
        this.#heading = undefined;
        break;
      case 'inline':
        this.#readInline(token);
        break;
      case 'fence':
      case 'code_block':
        this.#readCode(token);
        break;
      case 'html_block':
        this.#readHtml(token.content);
        break;
      case 'bullet_list_open':
        this.#lists.push({ next: undefined });
        break;
      case 'ordered_list_open':
        this.#lists.push({ next: Number(token.attrGet('start') ?? 1) });
        break;
      case 'bullet_list_close':
      case 'ordered_list_close':
        this.#lists.pop();
        this.#mark = '';
        break;
      case 'list_item_open':
        this.#openItem(token);
        break;
      default:
        this.#readTable(token);
    }
  }

  #openItem(token: Token): void {
    const list = this.#lists.at(-1);
    if (list?.next === undefined) this.#mark = token.markup || '-';
    else this.#mark = `${list.next++}${token.markup || '.'}`;
  }

  #readTable({ type }: Token): void {
    if (type === 'table_open') {
      this.#head = undefined;
      this.#hasRows = false;
    } else if (type === 'tr_open') this.#cells = [];
    else if (type === 'thead_close') this.#head = this.#cells.join(' | ');
    else if (type === 'tr_close' && this.#head !== undefined) this.#addRow(this.#cells, this.#head);
    else if (type === 'table_close') {
      if (!this.#hasRows && this.#head !== undefined) this.#add({ kind: 'row', text: this.#head });
      this.#head = undefined;
    } else if (type === 'th_open' || type === 'td_open') this.#inCell = true;
    else if (type === 'th_close' || type === 'td_close') this.#inCell = false;
  }

  #addRow(cells: readonly string[], head: string): void {
    this.#hasRows = true;
    if (cells.some((cell) => cell !== '')) this.#add({ kind: 'row', text: cells.join(' | '), head });
  }

  #readInline(token: Token): void {
    const text = spaced(visibleText(token, (label) => this.#wanted.push(label)));
    if (this.#heading !== undefined) {
      this.#mark = '';
      if (!this.#html.isHiding) {
        this.#html.endBlock();
        this.#sections.heading(this.#heading, text.replace(attributes, ''));
      }
    } else if (this.#inCell) this.#cells.push(text);
    else this.#add({ kind: this.#kind(), text: this.#marked(text) });
  }

  #readCode(token: Token): void {
    this.#mark = '';
    const text = token.content.replace(/^\n+/, '').trimEnd();
    const language = /^[\w#+.-]{1,40}/.exec(token.info.trim())?.[0] ?? '';
    this.#add({ kind: 'code', text, head: language });
  }

  /** The elements of one block of HTML may go on in the next one. */
  #readHtml(html: string): void {
    this.#htmlParser ??= htmlParser(this.#html);
    this.#htmlParser.write(html);
  }

  #add(block: Block): void {
    this.#html.add(block);
  }

  #kind(): Block['kind'] {
    return this.#lists.length > 0 || this.#mark !== '' ? 'item' : 'prose';
  }

  /** Puts the mark of the item before the first text in it. */
  #marked(text: string): string {
    const mark = this.#mark;
    this.#mark = '';
    return mark === '' || text === '' ? text : `${mark} ${text}`;
  }
}

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim();

const isEndOfBlock = ({ type }: Token) =>
  type === 'paragraph_close' || type === 'heading_close' || type === 'table_close';
