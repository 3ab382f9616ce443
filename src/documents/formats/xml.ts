import { Parser } from 'htmlparser2';
import { type Block, type Document, UnreadableDocument } from '../document.js';

/** The parser's time grows with the square of the depth. */
const maxDepth = 2000;

/** Returns a text without the declarations of its document type, which are no text. */
function withoutDeclarations(text: string): string {
  const begin = text.slice(0, headCharacters).search(/<!DOCTYPE\b[^>[]{0,1000}\[/i);
  if (begin < 0) return text;
  const end = /\][ \t\r\n]{0,100}>/g;
  end.lastIndex = begin;
  return end.exec(text) === null ? text : text.slice(0, begin) + text.slice(end.lastIndex);
}

/** Characters of a file in which its document type begins. */
const headCharacters = 10_000;

/** Longest text of an element and of those within it that is one paragraph, in characters. */
const longestMixed = 4000;

/** Attributes without words: names of schemas, and places of elements. */
const unseen = /^(?:xmlns(?::.*)?|xsi:.*|xml:(?:space|id|base|lang))$/;

/** Lines, and those of elements within. */
type Lines = (string | Lines)[];

/** An open element. */
interface Element {
  readonly name: string;
  /** Its texts, elements and attributes as lines of their own. Empty once it is long: then they are blocks. */
  lines: Lines;
  /** The attributes of it and of the elements within it. */
  attributes: Lines;
  /** The text since the last element within it. */
  text: string;
  /** The texts of it and of the elements within it. */
  whole: string;
  /** Whether it has texts of its own. */
  isMixed: boolean;
  isLong: boolean;
}

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim();

/**
 * Reads XML: the texts of elements, with their names, and the values of attributes. A text with elements within it, such as
 * emphasis, is one.
 */
export function readXml(text: string): Document {
  const reader = new XmlReader();
  const parser = new Parser(
    {
      onopentag: (name, attributes) => reader.open(name, attributes),
      ontext: (piece) => reader.add(piece),
      onclosetag: () => reader.close(),
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(withoutDeclarations(text));
  parser.end();
  return { sections: [{ headings: [], anchor: '', blocks: reader.blocks }] };
}

class XmlReader {
  readonly blocks: Block[] = [];
  readonly #path: Element[] = [];

  open(given: string, attributes: Readonly<Record<string, string>>): void {
    if (this.#path.length >= maxDepth) throw new UnreadableDocument('its elements are nested too deeply');
    const outer = this.#path.at(-1);
    if (outer !== undefined) this.#endText(outer);
    const name = given.slice(0, 100);
    const lines = Object.entries(attributes)
      .filter(([key, value]) => !unseen.test(key) && value.trim() !== '')
      .map(([key, value]) => `${name} ${key.slice(0, 100)}: ${spaced(value)}`);
    const isLong = outer?.isLong ?? false;
    this.#path.push({ name, lines: [], attributes: lines, text: '', whole: '', isMixed: false, isLong });
    for (const line of lines) this.#addLine(line);
  }

  add(piece: string): void {
    const element = this.#path.at(-1);
    if (element === undefined) return;
    element.text += piece;
    element.whole += piece;
  }

  close(): void {
    const element = this.#path.at(-1);
    if (element === undefined) return;
    this.#endText(element);
    this.#path.pop();
    if (element.isLong) return;
    const { name, isMixed, attributes, whole } = element;
    const lines = isMixed ? [attributes, `${name}: ${spaced(whole)}`] : element.lines;
    const outer = this.#path.at(-1);
    if (outer === undefined || outer.isLong) this.#addBlocks(lines);
    else {
      outer.lines.push(lines);
      outer.attributes.push(attributes);
      outer.whole += whole;
      if (outer.whole.length > longestMixed) this.#makeLong();
    }
  }

  #endText(element: Element): void {
    const text = spaced(element.text);
    element.text = '';
    if (text === '') return;
    element.isMixed = true;
    this.#addLine(`${element.name}: ${text}`);
  }

  #addLine(line: string): void {
    const element = this.#path.at(-1);
    if (element === undefined || element.isLong) this.#addBlocks([line]);
    else element.lines.push(line);
  }

  /** Makes blocks of the lines of all open elements: their texts are no paragraphs. */
  #makeLong(): void {
    for (const element of this.#path) {
      this.#addBlocks(element.lines);
      [element.lines, element.attributes, element.whole, element.isLong] = [[], [], '', true];
    }
  }

  #addBlocks(lines: Lines): void {
    for (const line of lines)
      if (typeof line === 'string') this.blocks.push({ kind: 'item', text: line });
      else this.#addBlocks(line);
  }
}
