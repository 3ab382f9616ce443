import { type Document, type Section, UnreadableDocument } from '../../document.js';
import { SectionBuilder } from '../section-builder.js';
import { textsOfDrawing } from './drawings.js';
import { Flow } from './flow.js';
import { isMarginText } from './margins.js';
import { relations, relationsPath, resolvedTarget } from './relations.js';
import { readElements, textOf } from './xml-events.js';
import { ZipArchive } from './zip.js';

/** Reads a Word document: headings, paragraphs, items, tables, notes, comments. @throws UnreadableDocument */
export function readWord(bytes: Buffer): Document {
  const zip = new ZipArchive(bytes);
  const path = mainPart(zip);
  const main = path === undefined ? undefined : zip.text(path);
  if (path === undefined || main === undefined) throw new UnreadableDocument('is not a Word document');
  const sections = new SectionBuilder();
  const title = textOf(zip.text('docProps/core.xml'), 'dc:title');
  if (title !== undefined) sections.titleIfNone(title);
  const styles = stylesOf(zip.text('word/styles.xml'));
  const notes = new Map<string, string[]>();
  for (const part of ['footnotes', 'endnotes', 'comments']) readNotes(zip.text(`word/${part}.xml`), notes);
  for (const text of textsOfMargins(zip, path, 'header')) sections.addFirst({ kind: 'prose', text });
  readBody(main, styles, notes, drawingsOf(zip, path), sections);
  // Those that nothing refers to.
  for (const text of [...notes.values()].flat()) sections.add({ kind: 'prose', text });
  for (const text of textsOfMargins(zip, path, 'footer')) sections.add({ kind: 'prose', text });
  return sections.finish();
}

/** Returns the texts above or below the pages, each once, without page numbers. */
function textsOfMargins(zip: ZipArchive, path: string, kind: 'header' | 'footer'): Set<string> {
  const texts = new Set<string>();
  for (const { type, target } of relations(zip.text(relationsPath(path))).values()) {
    if (!type.endsWith(`/${kind}`)) continue;
    const part = resolvedTarget(path, target);
    const margins = new SectionBuilder();
    readBody(zip.text(part), new Map(), new Map(), drawingsOf(zip, part), margins);
    for (const text of textsOfSections(margins.finish())) if (isMarginText(text)) texts.add(text);
  }
  return texts;
}

function textsOfSections({ sections }: Document): string[] {
  const all = Array.isArray(sections) ? (sections as readonly Section[]) : [];
  return all.flatMap(({ headings, blocks }) => [
    ...headings,
    ...blocks.flatMap(({ head, text }) => (head === undefined ? [text] : [head, text])),
  ]);
}

/** Returns a function that gives the texts of the chart or diagram with the id of its relation. */
function drawingsOf(zip: ZipArchive, path: string): (id: string | undefined) => string[] {
  const linked = relations(zip.text(relationsPath(path)));
  return (id = '') => {
    const found = linked.get(id);
    return found === undefined ? [] : textsOfDrawing(zip, resolvedTarget(path, found.target), found.type);
  };
}

/** Programs may give the text another name. */
function mainPart(zip: ZipArchive): string | undefined {
  for (const { type, target } of relations(zip.text('_rels/.rels')).values())
    if (/\/officeDocument$/.test(type)) return resolvedTarget('', target);
  return 'word/document.xml';
}

/** What a paragraph style says. Undefined: what the style says that it is based on. */
interface Style {
  /** Level of headings from 1; 0 for the title. */
  level?: number | undefined;
  /** Its paragraphs are lines of a table of contents. */
  isContents?: boolean | undefined;
  isItem?: boolean | undefined;
  basis?: string;
}

/** Longest chain of styles that are based on each other. */
const mostBases = 12;

/** Returns the paragraph styles by id. */
function stylesOf(xml: string | undefined): Map<string, Style> {
  const styles = new Map<string, Style>();
  let style: Style = {};
  readElements(xml, {
    open(name, attributes) {
      const value = attributes['w:val'] ?? '';
      if (name === 'w:style') {
        style = {};
        styles.set(attributes['w:styleId'] ?? '', style);
      } else if (name === 'w:name') {
        const level = /^heading ([1-9])$/i.exec(value)?.[1];
        if (level !== undefined) style.level = Number(level);
        else if (/^title$/i.test(value)) style.level = 0;
        else if (/^toc (?:[1-9]|heading)$/i.test(value)) style.isContents = true;
      } else if (name === 'w:basedOn') style.basis = value;
      else if (name === 'w:outlineLvl' && /^[0-8]$/.test(value)) style.level = Number(value) + 1;
      else if (name === 'w:numPr') style.isItem = true;
    },
  });
  return styles;
}

/** Returns what a style and its bases say; its level is that of its id if no style of the id is described. */
function styleOf(id: string, styles: ReadonlyMap<string, Style>): Style {
  const found: Style = {};
  let style = styles.get(id);
  if (style === undefined) return styleByName(id);
  for (let count = 0; style !== undefined && count < mostBases; count++) {
    found.level ??= style.level;
    found.isItem ??= style.isItem;
    found.isContents ??= style.isContents;
    style = style.basis === undefined ? undefined : styles.get(style.basis);
  }
  return found;
}

/** Reads the paragraphs of notes and comments, by kind and id. */
function readNotes(xml: string | undefined, notes: Map<string, string[]>): void {
  let note: string[] | undefined;
  let parts: string[] = [];
  let label = '';
  let inText = false;
  readElements(xml, {
    open(name, attributes) {
      const kind = /^w:(footnote|endnote|comment)$/.exec(name)?.[1];
      if (kind !== undefined) {
        note = [];
        notes.set(`${kind} ${attributes['w:id'] ?? ''}`, note);
        label = kind === 'comment' ? `Comment${by(attributes['w:author'])}: ` : '';
      } else if (name === 'w:t') inText = true;
      else if (/^w:(?:tab|br|cr)$/.test(name)) parts.push(' ');
    },
    text(text) {
      if (inText) parts.push(text);
    },
    close(name) {
      if (name === 'w:t') inText = false;
      if (name !== 'w:p') return;
      const text = parts.join('').replace(/\s+/g, ' ').trim();
      parts = [];
      if (text !== '') note?.push(note.length === 0 ? `${label}${text}` : text);
    },
  });
}

/** Names the author of a comment. */
export const by = (author = '') => (author.trim() === '' ? '' : ` by ${author.trim().slice(0, 100)}`);

/** Elements whose text is not of the document: where it was before it was moved, and another form of what stands beside it. */
const unseen = /^(?:w:moveFrom|mc:Fallback)$/;

function readBody(
  xml: string | undefined,
  styles: ReadonlyMap<string, Style>,
  notes: Map<string, string[]>,
  drawing: (id: string | undefined) => string[],
  sections: SectionBuilder,
): void {
  const flow = new Flow(sections);
  /** What the open paragraph says, and those around it: a text box has paragraphs of its own. */
  let paragraph: Style & { mark: string } = { mark: '' };
  const around: (typeof paragraph)[] = [];
  let columns = 1;
  let continues = false;
  let [hidden, isVanished, inText] = [0, false, false];
  /** The reading of the open ruby element, which follows its text. */
  let reading: string[] | undefined;
  let inReading = false;
  const open = (name: string, attributes: Readonly<Record<string, string>>) => {
    const value = attributes['w:val'] ?? '';
    const reference = /^w:(footnote|endnote|comment)Reference$/.exec(name)?.[1];
    if (name === 'w:p') {
      around.push(paragraph);
      paragraph = { mark: '' };
    } else if (name === 'w:pStyle') {
      const style = styleOf(value, styles);
      paragraph = { ...style, mark: style.isItem && style.level === undefined ? '-' : paragraph.mark };
    } else if (name === 'w:outlineLvl' && /^[0-8]$/.test(value)) paragraph.level = Number(value) + 1;
    else if (name === 'w:numPr') paragraph.mark = '-';
    else if (name === 'w:r') isVanished = false;
    else if (name === 'w:ruby') reading = [];
    else if (name === 'w:rt') inReading = true;
    else if (name === 'w:vanish') isVanished = !/^(?:0|false|off)$/.test(value);
    else if (name === 'w:t' || name === 'm:t') inText = !isVanished;
    else if (name === 'c:chart') for (const text of drawing(attributes['r:id'])) flow.beside(text);
    else if (name === 'dgm:relIds') for (const text of drawing(attributes['r:dm'])) flow.beside(text);
    else if (/^w:(?:tab|br|cr|ptab)$/.test(name)) flow.text(' ');
    else if (name === 'w:noBreakHyphen') flow.text('-');
    else if (name === 'w:sym') flow.text(isVanished ? '' : symbolOf(attributes));
    else if (name === 'w:txbxContent') flow.openAside();
    else if (name === 'w:tbl') flow.openTable();
    else if (name === 'w:tr') flow.openRow();
    else if (name === 'w:tc') {
      flow.openCell();
      [columns, continues] = [1, false];
    } else if (name === 'w:gridSpan') columns = Number(value) || 1;
    else if (name === 'w:vMerge') continues = value !== 'restart';
    else if (reference !== undefined) {
      const id = `${reference} ${attributes['w:id'] ?? ''}`;
      for (const text of notes.get(id) ?? []) flow.beside(text);
      notes.delete(id);
    }
  };
  readElements(xml, {
    open(name, attributes) {
      if (unseen.test(name)) hidden++;
      if (hidden === 0) open(name, attributes);
    },
    text(text) {
      if (!inText || hidden > 0) return;
      if (inReading) reading?.push(text);
      else flow.text(text);
    },
    close(name) {
      if (unseen.test(name)) hidden--;
      else if (hidden > 0) return;
      else if (name === 'w:rt') inReading = false;
      else if (name === 'w:ruby') {
        flow.text(`(${(reading ?? []).join('')})`);
        reading = undefined;
      } else if (name === 'w:t' || name === 'm:t') inText = false;
      else if (name === 'w:txbxContent') flow.closeAside();
      else if (name === 'w:p') {
        if (paragraph.isContents === true) flow.dropParagraph();
        else flow.endParagraph(paragraph.level, paragraph.mark);
        paragraph = around.pop() ?? { mark: '' };
      } else if (name === 'w:tc') flow.closeCell({ columns, continues });
      else if (name === 'w:tbl') flow.closeTable();
    },
  });
}

/** Characters of the font Symbol from 0x41, 0x61 and 0xA0 on. */
const greekSymbols = [
  [0x41, 'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ'],
  [0x61, 'αβχδεφγηιϕκλμνοπθρστυϖωξψζ'],
  [0xa0, '€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…'],
] as const;

/** Returns a character of a font of symbols; a space for a drawn one. */
function symbolOf({ 'w:font': font = '', 'w:char': hex = '' }: Readonly<Record<string, string>>): string {
  const code = Number.parseInt(hex, 16);
  if (!Number.isInteger(code)) return ' ';
  const place = code & 0xff;
  if (/^symbol$/i.test(font)) {
    const [begin, characters] = greekSymbols.findLast(([first]) => first <= place) ?? [0, ''];
    return characters[place - begin] ?? ' ';
  }
  return code < 0xe000 && code >= 0x20 ? String.fromCharCode(code) : ' ';
}

/** Returns what the id of a style says that is not described. */
function styleByName(id: string): Style {
  const level = /^heading ?([1-9])$/i.exec(id)?.[1];
  if (level !== undefined) return { level: Number(level) };
  return /^title$/i.test(id) ? { level: 0 } : { isContents: /^TOC ?(?:[1-9]|heading)$/i.test(id) };
}
