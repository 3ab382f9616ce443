import type { Block, Document, Section } from '../document.js';
import { Anchors } from './anchors.js';

/** Longest heading in characters; the rest of a longer one is dropped. */
const longestHeading = 200;

interface Heading {
  readonly level: number;
  readonly text: string;
}

interface Part {
  /** The headings above the blocks, outermost first. */
  readonly path: readonly Heading[];
  readonly anchor: string;
  readonly blocks: Block[];
}

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim().slice(0, longestHeading);

/** An embedded file, such as a picture: it has no words. */
const dataUri =
  /data:[\w.+-]{1,100}\/[\w.+-]{1,100}(?:;[\w.+-]{1,100}(?:=[\w.+-]{1,100})?){0,5};base64,[\w+/=%-]{40,}/g;

/** Returns a text without embedded files. */
const withoutData = (text: string) => (text.includes(';base64,') ? text.replace(dataUri, '') : text);

/**
 * Collects the sections of a document whose headings have levels. A single heading of level 1 is the title of a document that
 * states none; several are siblings. Level 0 is a title within the text, above those of level 1.
 */
export class SectionBuilder {
  readonly #anchors = new Anchors();
  readonly #parts: Part[] = [];
  readonly #tops: Heading[] = [];
  readonly #first: Block[] = [];
  #path: readonly Heading[] = [];
  #anchor = '';
  #blocks: Block[] = [];
  #title: string | undefined;
  #fallback: string | undefined;

  add(block: Block): void {
    const text = withoutData(block.text);
    if (text.trim() !== '') this.#blocks.push({ ...block, text });
  }

  /** Adds a block above the first one of the document. */
  addFirst(block: Block): void {
    if (block.text.trim() !== '') this.#first.push(block);
  }

  /** Begins a section. */
  heading(level: number, text: string): void {
    const shown = spaced(text);
    if (shown === '') return;
    this.#finish();
    const heading = { level, text: shown };
    this.#path = [...this.#path.filter((other) => other.level < level), heading];
    this.#anchor = this.#anchors.of(shown);
    if (level <= 1) this.#tops.push(heading);
  }

  /** States the title. */
  title(text: string): void {
    this.#title ??= spaced(text) || undefined;
  }

  /** Gives the title of a document that does not state it and has no single heading of the highest level. */
  titleIfNone(text: string): void {
    this.#fallback ??= spaced(text) || undefined;
  }

  finish(): Document {
    this.#finish();
    const titles = this.#tops.filter(({ level }) => level === 0);
    const [only, other] = titles.length > 0 ? titles : this.#tops;
    const title = this.#title ?? (other === undefined ? only?.text : undefined) ?? this.#fallback;
    const named = (heading: Heading) => heading.level <= 1 && heading.text === title;
    const parts = this.#withText(named);
    if (this.#first.length > 0) {
      const [first] = parts;
      if (first === undefined) parts.push({ path: [], anchor: '', blocks: this.#first });
      else parts[0] = { ...first, blocks: [...this.#first, ...first.blocks] };
    }
    const sections = parts.map(
      ({ path, anchor, blocks }): Section => ({
        headings: path.filter((heading) => !named(heading)).map(({ text }) => text),
        anchor,
        blocks,
      }),
    );
    return { title, sections };
  }

  /**
   * Returns the parts with blocks. A heading without text is a line of its parent's part, or of a part beside it, unless the
   * headings of the next part have it.
   */
  #withText(isTitle: (heading: Heading) => boolean): Part[] {
    const parts: Part[] = [];
    const hasText = this.#parts.some(({ blocks }) => blocks.length > 0) || this.#first.length > 0;
    for (const [at, part] of this.#parts.entries()) {
      const leaf = part.path.at(-1);
      if (part.blocks.length > 0) parts.push({ ...part, blocks: [...part.blocks] });
      else if (leaf !== undefined && !this.#parts[at + 1]?.path.includes(leaf)) {
        if (isTitle(leaf) && hasText) continue;
        const path = part.path.slice(0, -1);
        const last = parts.at(-1);
        const line = { kind: 'item', text: leaf.text } as const;
        if (last !== undefined && isSame(last.path, path)) last.blocks.push(line);
        else parts.push({ path, anchor: part.anchor, blocks: [line] });
      }
    }
    return parts;
  }

  #finish(): void {
    if (this.#blocks.length > 0 || this.#anchor !== '')
      this.#parts.push({ path: this.#path, anchor: this.#anchor, blocks: this.#blocks });
    this.#blocks = [];
  }
}

const isSame = (a: readonly Heading[], b: readonly Heading[]) =>
  a.length === b.length && a.every((heading, at) => heading === b[at]);
