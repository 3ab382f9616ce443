import { type Document, UnreadableDocument } from '../../document.js';
import { SectionBuilder } from '../section-builder.js';
import { Flow } from './flow.js';
import { isMarginText } from './margins.js';
import { by } from './word.js';
import { readElements, textOf } from './xml-events.js';
import { ZipArchive } from './zip.js';

type Attributes = Readonly<Record<string, string>>;

const names = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Elements whose text is not of the document. */
const unseen = names(
  'text:tracked-changes office:forms office:scripts svg:title svg:desc text:note-citation dc:date meta:creator-initials text:hidden-text text:hidden-paragraph text:table-of-content text:alphabetical-index',
);

/** Reads a text, a spreadsheet or a presentation of OpenDocument. Hidden sheets and slides are named. @throws UnreadableDocument */
export function readOpenDocument(bytes: Buffer): Document {
  const zip = new ZipArchive(bytes);
  const content = zip.text('content.xml');
  if (content === undefined) throw new UnreadableDocument('is not an OpenDocument file');
  const sections = new SectionBuilder();
  const title = textOf(zip.text('meta.xml'), 'dc:title');
  if (title !== undefined) sections.titleIfNone(title);
  const margins = textsOfMargins(/<office:text[\s>]/.test(content) ? zip.text('styles.xml') : undefined);
  for (const text of margins.header) sections.addFirst({ kind: 'prose', text });
  const reader = new ContentReader(sections, /<office:spreadsheet[\s>]/.test(content));
  readElements(content, {
    open: (name, attributes) => reader.open(name, attributes),
    text: (text) => reader.text(text),
    close: (name) => reader.close(name),
  });
  for (const text of margins.footer) sections.add({ kind: 'prose', text });
  return { ...sections.finish(), problems: reader.problems };
}

/** Returns the paragraphs above and below the pages, each once, without page numbers. */
function textsOfMargins(styles: string | undefined): Record<'header' | 'footer', Set<string>> {
  const texts = { header: new Set<string>(), footer: new Set<string>() };
  let kind: keyof typeof texts | undefined;
  let parts: string[] | undefined;
  readElements(styles, {
    open(name) {
      const opened = /^style:(header|footer)(?:-left|-first)?$/.exec(name)?.[1];
      if (opened !== undefined) kind = opened as keyof typeof texts;
      else if (name === 'text:p' || name === 'text:h') parts = [];
      else if (/^text:(?:s|tab|line-break)$/.test(name)) parts?.push(' ');
    },
    text: (text) => parts?.push(text),
    close(name) {
      if (/^style:(?:header|footer)(?:-left|-first)?$/.test(name)) kind = undefined;
      if (name !== 'text:p' && name !== 'text:h') return;
      const text = (parts ?? []).join('').replace(/\s+/g, ' ').trim();
      parts = undefined;
      if (kind !== undefined && isMarginText(text)) texts[kind].add(text);
    },
  });
  return texts;
}

/** Hidden sheets and slides that are named. */
const mostNamed = 20;

/** The level of a title within the text. */
const titleLevel = 0;

class ContentReader {
  readonly problems: string[] = [];
  readonly #sections: SectionBuilder;
  readonly #flow: Flow;
  readonly #isSpreadsheet: boolean;
  /** Styles of sheets and slides that are not shown, and the style that is described. */
  readonly #hiddenStyles = new Set<string>();
  #style = '';
  /** Styles of titles, which programs give English names. */
  readonly #titleStyles = new Set(['Title']);
  /** Open elements, and the number of those around the one that is not shown. */
  #depth = 0;
  #hiddenAt: number | undefined;
  #lists = 0;
  #paragraphs = 0;
  /** Levels of the open paragraphs; undefined: it is no heading. */
  readonly #levels: (number | undefined)[] = [];
  #cell = { columns: 1, isRepeated: true, continues: false };
  /** Columns of the row that are covered by a cell before them. */
  #covered = 0;
  /** The name of the slide whose title was not read yet. */
  #slide: string | undefined;
  #inTitle = false;
  #author: string | undefined;

  constructor(sections: SectionBuilder, isSpreadsheet: boolean) {
    this.#sections = sections;
    this.#flow = new Flow(sections);
    this.#isSpreadsheet = isSpreadsheet;
  }

  open(name: string, attributes: Attributes): void {
    this.#depth++;
    if (this.#hiddenAt !== undefined) return;
    if (unseen.has(name) || this.#isHidden(name, attributes)) this.#hiddenAt = this.#depth;
    else if (name.startsWith('table:')) this.#openTable(name, attributes);
    else this.#open(name, attributes);
  }

  text(text: string): void {
    if (this.#hiddenAt !== undefined) return;
    if (this.#author !== undefined && this.#paragraphs === 0) this.#author += text;
    else if (this.#paragraphs > 0) this.#flow.text(text);
  }

  close(name: string): void {
    const depth = this.#depth--;
    if (this.#hiddenAt === depth) this.#hiddenAt = undefined;
    else if (this.#hiddenAt === undefined) this.#close(name);
  }

  #open(name: string, attributes: Attributes): void {
    if (name === 'text:h' || name === 'text:p') {
      this.#paragraphs++;
      const level = Number(attributes['text:outline-level'] ?? 1) || 1;
      const isTitle = this.#titleStyles.has(attributes['text:style-name'] ?? '');
      this.#levels.push(name === 'text:h' ? level : isTitle ? titleLevel : undefined);
    } else if (/^text:(?:s|tab|line-break)$/.test(name)) this.#flow.text(' ');
    else if (name === 'text:note') this.#openAside();
    else if (name === 'office:annotation') this.#openAside();
    else if (name === 'dc:creator') this.#author = '';
    else if (name === 'text:list-item') this.#lists++;
    else if (name === 'draw:page') this.#slide = attributes['draw:name'] ?? '';
    else if (name === 'draw:frame') this.#inTitle = attributes['presentation:class'] === 'title';
    else if (name === 'presentation:notes') this.#nameSlide();
    else if (name === 'style:style') this.#openStyle(attributes);
    else if (attributes['presentation:visibility'] === 'hidden') this.#hiddenStyles.add(this.#style);
    else if (name === 'style:table-properties' && attributes['table:display'] === 'false')
      this.#hiddenStyles.add(this.#style);
  }

  #openStyle(attributes: Attributes): void {
    this.#style = attributes['style:name'] ?? '';
    if (attributes['style:parent-style-name'] === 'Title') this.#titleStyles.add(this.#style);
  }

  #openTable(name: string, attributes: Attributes): void {
    if (name === 'table:table') {
      const sheet = attributes['table:name'];
      if (this.#isSpreadsheet && sheet !== undefined) this.#sections.heading(2, sheet);
      this.#flow.openTable();
    } else if (name === 'table:table-row') {
      this.#covered = 0;
      this.#flow.openRow();
    } else if (name === 'table:table-cell' || name === 'table:covered-table-cell') {
      const columns = Number(attributes['table:number-columns-repeated'] ?? 1) || 1;
      const isCovered = name === 'table:covered-table-cell' && this.#covered > 0;
      if (isCovered) this.#covered -= columns;
      else this.#covered = (Number(attributes['table:number-columns-spanned'] ?? 1) || 1) - 1;
      const continues = name === 'table:covered-table-cell' && !isCovered;
      this.#cell = { columns, isRepeated: true, continues };
      this.#flow.openCell();
    }
  }

  #close(name: string): void {
    if (name === 'text:h' || name === 'text:p') {
      this.#paragraphs--;
      this.#endParagraph();
    } else if (name === 'text:note') this.#closeAside('');
    else if (name === 'office:annotation') this.#closeAside(`Comment${by(this.#author)}: `);
    else if (name === 'text:list-item') this.#lists--;
    else if (name === 'draw:frame') this.#inTitle = false;
    else if (name === 'draw:page') this.#nameSlide();
    else if (name === 'table:table-cell' || name === 'table:covered-table-cell')
      this.#flow.closeCell(this.#cell);
    else if (name === 'table:table') this.#flow.closeTable();
  }

  /** Notes and comments stand within a paragraph. */
  #openAside(): void {
    this.#author = undefined;
    this.#flow.openAside();
    this.#around.push(this.#paragraphs);
    this.#paragraphs = 0;
  }

  #closeAside(label: string): void {
    this.#flow.closeAside(label);
    this.#paragraphs = this.#around.pop() ?? 0;
    this.#author = undefined;
  }

  /** Open paragraphs around the notes and comments. */
  readonly #around: number[] = [];

  #endParagraph(): void {
    const level = this.#levels.pop();
    if (this.#slide !== undefined && this.#inTitle) {
      this.#slide = undefined;
      this.#flow.endParagraph(2, '');
      return;
    }
    this.#nameSlide();
    this.#flow.endParagraph(level, this.#lists > 0 ? '-' : '');
  }

  /** A slide without a title has its name. */
  #nameSlide(): void {
    if (this.#slide === undefined) return;
    this.#sections.heading(2, this.#slide);
    this.#slide = undefined;
  }

  #isHidden(name: string, attributes: Attributes): boolean {
    const [kind, style, title] =
      name === 'table:table' && this.#isSpreadsheet
        ? ['sheet', attributes['table:style-name'], attributes['table:name']]
        : name === 'draw:page'
          ? ['slide', attributes['draw:style-name'], attributes['draw:name']]
          : [];
    if (kind === undefined || !this.#hiddenStyles.has(style ?? '')) return false;
    if (this.problems.length < mostNamed)
      this.problems.push(`the ${kind} ${JSON.stringify((title ?? '').slice(0, 100))} is hidden`);
    return true;
  }
}
