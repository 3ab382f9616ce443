import type { Block, Document, Section } from '../document.js';
import { Anchors } from './anchors.js';

/** Longest heading in characters; the rest of a longer one is dropped. */
const longestHeading = 200;

/** Collects the sections of a document whose headings have levels. */
export class SectionBuilder {
  readonly #anchors = new Anchors();
  readonly #sections: Section[] = [];
  #open: { level: number; text: string }[] = [];
  #anchor = '';
  #blocks: Block[] = [];
  #title: string | undefined;

  add(block: Block): void {
    if (block.text.trim() !== '') this.#blocks.push(block);
  }

  /** Begins a section. The first heading of level 1 is the document's title if none was set. */
  heading(level: number, text: string): void {
    const shown = text.replace(/\s+/g, ' ').trim().slice(0, longestHeading);
    if (shown === '') return;
    this.#finish();
    this.#open = this.#open.filter((other) => other.level < level);
    this.#anchor = this.#anchors.of(shown);
    if (level === 1 && this.#title === undefined) {
      this.#title = shown;
      return;
    }
    if (shown !== this.#title || this.#open.length > 0) this.#open.push({ level, text: shown });
  }

  title(text: string): void {
    this.#title ??= text.replace(/\s+/g, ' ').trim().slice(0, longestHeading) || undefined;
  }

  finish(): Document {
    this.#finish();
    return { title: this.#title, sections: this.#sections };
  }

  #finish(): void {
    const headings = this.#open.map(({ text }) => text);
    if (this.#blocks.length > 0 || headings.length > 0 || this.#anchor !== '')
      this.#sections.push({ headings, anchor: this.#anchor, blocks: this.#blocks });
    this.#blocks = [];
  }
}
