import { type Document, UnreadableDocument } from '../document.js';
import { pieceDecoder } from '../files/encoding.js';
import { isMarginText } from './office/margins.js';
import { SectionBuilder } from './section-builder.js';

const words = (text: string) => text.split(' ');

const pairs = (text: string): ReadonlyMap<string, string> =>
  new Map(words(text).map((pair) => pair.split(':') as [string, string]));

/** Groups whose text is not of the document. `\*` marks others that a reader may ignore. */
const hiddenGroups = new Set(
  words(
    'fonttbl colortbl stylesheet info pict object objdata themedata fldinst listtext pntext nonshppict filetbl revtbl sn sv',
  ),
);

/** Ignorable groups with text of the document. */
const shownGroups = new Set(words('shptxt shpinst shp annotation footnote'));

/** Where a text that stands beside a paragraph goes: above or below the document, or below the paragraph. */
type Place = 'header' | 'footer' | 'beside';

const places: ReadonlyMap<string, Place> = new Map([
  ...words('header headerl headerr headerf').map((word): [string, Place] => [word, 'header']),
  ...words('footer footerl footerr footerf').map((word): [string, Place] => [word, 'footer']),
  ...words('footnote annotation shptxt').map((word): [string, Place] => [word, 'beside']),
]);

/** A text that stands beside a paragraph, such as a note, and what it interrupts. */
interface Aside {
  readonly place: Place;
  readonly texts: string[];
  readonly around: { readonly text: string; readonly level: number; readonly isRow: boolean };
}

/** Ends the text of a cell: a character that no text has. */
const cellEnd = '\uE0F3';

const signs = pairs(
  `tab:\t cell:${cellEnd} nestcell:\t line:\n emdash:— endash:– bullet:• lquote:‘ rquote:’ ldblquote:“ rdblquote:”`,
);

const symbols = pairs('~:\u00A0 _:\u2011 \\:\\ {:{ }:}');

/** Code pages of the character sets of fonts. */
const charsets = pairs(
  '128:932 129:949 134:936 136:950 161:1253 162:1254 163:1258 177:1255 178:1256 186:1257 204:1251 222:874 238:1250',
);

/** Code pages of files that name none. */
const characterSets = pairs('mac:10000 pc:437 pca:850');

const encodings = pairs(
  '932:shift_jis 936:gbk 949:euc-kr 950:big5 437:ibm437 737:ibm737 775:ibm775 850:ibm850 852:ibm852 855:ibm855 857:ibm857 862:ibm862 866:ibm866 10000:macintosh 10007:x-mac-cyrillic 65001:utf-8',
);

const encodingOf = (page: number) =>
  encodings.get(`${page}`) ??
  ((page >= 1250 && page <= 1258) || page === 874 ? `windows-${page}` : 'windows-1252');

/** Part of a file, in bytes, that has the styles and the fonts. */
const headBytes = 512 * 1024;

const noHeading = -1;

/** Deeper groups are read as their parents. */
const deepest = 1000;

interface Group {
  isHidden: boolean;
  /** Characters that stand for a Unicode one in old readers. */
  replaced: number;
  page: number;
  /** Undefined: the text of the document. */
  aside: Aside | undefined;
}

const token = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gi;

const styleOfTitle = /\\s(\d{1,4})\b[^{};]{0,1000} title;/gi;
const styleOfHeading = /\\s(\d{1,4})\b[^{};]{0,1000}\bheading ([1-9])/gi;
const fontCharset = /\\f(\d{1,5})\b[^{};]{0,200}?\\fcharset(\d{1,3})/gi;

/** Reads Rich Text Format: paragraphs, headings of the styles, rows of tables, notes, headers and footers. @throws UnreadableDocument */
export function readRtf(bytes: Buffer): Document {
  if (!bytes.subarray(0, 16).toString('latin1').trimStart().startsWith('{\\rtf'))
    throw new UnreadableDocument('is not RTF');
  return new RtfReader(bytes.toString('latin1')).read();
}

class RtfReader {
  readonly #source: string;
  readonly #sections = new SectionBuilder();
  readonly #groups: Group[] = [];
  readonly #styles: ReadonlyMap<number, number>;
  readonly #fonts: ReadonlyMap<number, number>;
  #group: Group = { isHidden: false, replaced: 1, page: 1252, aside: undefined };
  #tooDeep = 0;
  #bytes = '';
  #text = '';
  /** Texts that follow the open paragraph or row. */
  readonly #beside: string[] = [];
  readonly #headers = new Set<string>();
  readonly #footers = new Set<string>();
  /** Level of headings from 1; 0 for the title. */
  #level = noHeading;
  #isRow = false;
  #toSkip = 0;
  /** `\*` was read: the next word may name a group to ignore. */
  #isIgnorable = false;
  #page = 1252;

  constructor(source: string) {
    this.#source = source;
    const head = source.slice(0, headBytes);
    const numbers = (pattern: RegExp) =>
      new Map([...head.matchAll(pattern)].map(([, a, b]): [number, number] => [Number(a), Number(b)]));
    const titles = [...head.matchAll(styleOfTitle)].map(([, style]): [number, number] => [Number(style), 0]);
    this.#styles = new Map([...titles, ...numbers(styleOfHeading)]);
    this.#fonts = numbers(fontCharset);
  }

  read(): Document {
    const title = /\{\\title ([^{}\\]{1,300})\}/.exec(this.#source.slice(0, 100_000))?.[1];
    if (title !== undefined) this.#sections.titleIfNone(title);
    const pattern = new RegExp(token);
    for (let match = pattern.exec(this.#source); match !== null; match = pattern.exec(this.#source)) {
      const [, word, number, hex, symbol, brace, text] = match;
      if (word === 'bin') pattern.lastIndex += Math.max(0, Number(number ?? 0));
      else if (word !== undefined) this.#onWord(word, number === undefined ? undefined : Number(number));
      else if (hex !== undefined) this.#addByte(String.fromCharCode(Number.parseInt(hex, 16)));
      else if (symbol !== undefined) this.#onSymbol(symbol);
      else if (brace === '{') this.#open();
      else if (brace === '}') this.#close();
      else if (text !== undefined) this.#addBytes(text);
    }
    while (this.#groups.length > 0) this.#close();
    this.#isRow = false;
    this.#endParagraph();
    for (const text of this.#headers) this.#sections.addFirst({ kind: 'prose', text });
    for (const text of this.#footers) this.#sections.add({ kind: 'prose', text });
    return this.#sections.finish();
  }

  #open(): void {
    this.#decode();
    this.#toSkip = 0;
    if (this.#groups.length >= deepest) this.#tooDeep++;
    else this.#groups.push({ ...this.#group });
  }

  #close(): void {
    this.#decode();
    this.#toSkip = 0;
    this.#isIgnorable = false;
    if (this.#tooDeep > 0) this.#tooDeep--;
    else {
      const { aside } = this.#group;
      const parent = this.#groups.pop() ?? this.#group;
      if (aside !== undefined && aside !== parent.aside) this.#closeAside(aside);
      this.#group = parent;
    }
  }

  #openAside(place: Place): void {
    const around = { text: this.#text, level: this.#level, isRow: this.#isRow };
    this.#group.aside = { place, texts: [], around };
    this.#text = '';
    [this.#level, this.#isRow] = [noHeading, false];
  }

  #closeAside({ place, texts, around }: Aside): void {
    this.#isRow = false;
    this.#endParagraph();
    if (place === 'beside') this.#beside.push(...texts);
    else {
      const margin = place === 'header' ? this.#headers : this.#footers;
      for (const text of texts) if (isMarginText(text)) margin.add(text);
    }
    this.#text = around.text;
    [this.#level, this.#isRow] = [around.level, around.isRow];
  }

  #onWord(word: string, number: number | undefined): void {
    if (hiddenGroups.has(word) || (this.#isIgnorable && !shownGroups.has(word))) this.#group.isHidden = true;
    this.#isIgnorable = false;
    if (word === 'ansicpg') this.#page = this.#group.page = number ?? 1252;
    else if (characterSets.has(word)) this.#page = this.#group.page = Number(characterSets.get(word));
    else if (word === 'uc') this.#group.replaced = Math.min(Math.max(number ?? 1, 0), 16);
    else if (word === 'f') this.#onFont(number ?? 0);
    else if (word === 'v' || word === 'deleted') this.#group.isHidden ||= number !== 0;
    if (this.#group.isHidden) return;
    const place = places.get(word);
    if (place !== undefined) this.#openAside(place);
    else if (word === 'u') this.#addUnicode(number ?? 0);
    else if (word === 'par' || word === 'sect' || word === 'page') this.#endParagraph();
    else if (word === 'row') this.#endParagraph('row');
    else if (word === 'trowd' || word === 'intbl') this.#isRow = true;
    else if (word === 'pard') [this.#level, this.#isRow] = [noHeading, false];
    else if (word === 's') this.#level = this.#styles.get(number ?? 0) ?? noHeading;
    else if (word === 'outlinelevel') this.#level = (number ?? 9) < 9 ? (number ?? 0) + 1 : noHeading;
    else this.#add(signs.get(word) ?? '');
  }

  #onFont(font: number): void {
    this.#decode();
    this.#group.page = Number(charsets.get(`${this.#fonts.get(font) ?? 0}`) ?? this.#page);
  }

  #onSymbol(symbol: string): void {
    if (symbol === '*') this.#isIgnorable = true;
    else if (symbol === '\n' || symbol === '\r') this.#endParagraph();
    else this.#add(symbols.get(symbol) ?? '');
  }

  #addByte(byte: string): void {
    if (this.#toSkip > 0) this.#toSkip--;
    else if (!this.#group.isHidden) this.#bytes += byte;
  }

  #addBytes(text: string): void {
    const rest = text.slice(this.#toSkip);
    this.#toSkip -= text.length - rest.length;
    if (!this.#group.isHidden) this.#bytes += rest;
  }

  #addUnicode(number: number): void {
    this.#decode();
    this.#text += String.fromCharCode(number & 0xffff);
    this.#toSkip = this.#group.replaced;
  }

  #add(text: string): void {
    if (this.#group.isHidden) return;
    this.#decode();
    this.#text += text;
  }

  #decode(): void {
    if (this.#bytes === '') return;
    const decoded = pieceDecoder(encodingOf(this.#group.page));
    this.#text += decoded(Buffer.from(this.#bytes, 'latin1')) + decoded();
    this.#bytes = '';
  }

  #endParagraph(kind: 'prose' | 'row' = 'prose'): void {
    this.#decode();
    // A cell of a table has paragraphs of its own.
    if (this.#isRow && kind === 'prose' && this.#text !== '') this.#text += ' ';
    else {
      const text = kind === 'row' ? cellsOf(this.#text) : this.#text.trim();
      this.#text = '';
      const { aside } = this.#group;
      if (aside !== undefined) {
        if (text !== '') aside.texts.push(text);
        return;
      }
      if (this.#level !== noHeading && kind === 'prose') this.#sections.heading(this.#level, text);
      else this.#sections.add({ kind, text });
      for (const beside of this.#beside.splice(0)) this.#sections.add({ kind: 'prose', text: beside });
    }
  }
}

/** Empty cells keep their columns; those at the end are dropped. */
function cellsOf(text: string): string {
  const cells = text.split(cellEnd).map((cell) => cell.replace(/\s+/g, ' ').trim());
  return cells.slice(0, 1 + cells.findLastIndex((cell) => cell !== '')).join(' | ');
}
