import type { Knowledge } from '../../../protocol/components.js';
import type { OwnCitation } from '../../interaction.js';

/** One mark, or several in one pair of brackets: `[1]`, `[2, 5]`. At most `longestMark` characters: matching stays linear. */
const mark = /\[[\d\s,;]{1,64}\]/g;
const numbersOfMark = /^\[\s*\d{1,9}(?:\s*[,;]\s*\d{1,9})*\s*\]$/;

/** The characters of an unfinished mark, and how many it may have. Longer beginnings are no marks. */
const unfinished = /^\[[\d\s,;]*$/;
const longestMark = 65;

/** Returns where a text ends without the blanks before `end`. */
function blanksBefore(text: string, end: number): number {
  let at = end;
  while (at > 0 && (text[at - 1] === ' ' || text[at - 1] === '\t')) at--;
  return at;
}

/** Returns where the part of a text begins that may become a mark with what follows, its blanks included. */
function heldFrom(text: string): number {
  const opening = text.lastIndexOf('[');
  const isOpen = opening >= 0 && text.length - opening <= longestMark && unfinished.test(text.slice(opening));
  return blanksBefore(text, isOpen ? opening : text.length);
}

/**
 * Finds marks such as `[1]` in a reply that arrives in pieces. Marks of records become citations; marks of records that do
 * not exist are removed, with the blanks before them, and counted.
 */
export class MarkFilter {
  readonly #records: readonly Knowledge[];
  readonly citations: OwnCitation[] = [];
  #held = '';
  /** Length of the reply so far, in UTF-16 code units. */
  #length = 0;
  #removed = 0;

  /** `records`: the first has the number 1. */
  constructor(records: readonly Knowledge[]) {
    this.#records = records;
  }

  /** Number of marks removed. */
  get removed(): number {
    return this.#removed;
  }

  /** Returns the text that can be sent. The rest is held until it is known whether it is a mark. */
  push(piece: string): string {
    const text = this.#held + piece;
    const end = heldFrom(text);
    this.#held = text.slice(end);
    return this.#pass(text.slice(0, end));
  }

  /** Returns the rest. */
  finish(): string {
    const text = this.#held;
    this.#held = '';
    return this.#pass(text);
  }

  #pass(text: string): string {
    let passed = '';
    let at = 0;
    for (const { 0: bracket, index } of text.matchAll(mark)) {
      if (!numbersOfMark.test(bracket)) continue;
      const begin = Math.max(at, blanksBefore(text, index));
      passed += text.slice(at, begin);
      at = index + bracket.length;
      passed += this.#cite(text.slice(begin, at), this.#length + passed.length);
    }
    passed += text.slice(at);
    this.#length += passed.length;
    return passed;
  }

  /** Returns a mark as it stays in the reply. `position`: where it begins. */
  #cite(found: string, position: number): string {
    const numbers = [...found.matchAll(/\d+/g)].map(([digits]) => Number(digits));
    const known = numbers.filter((number) => this.#records[number - 1] !== undefined);
    this.#removed += numbers.length - known.length;
    if (known.length === 0) return '';
    const blanks = (/^[ \t]*/.exec(found) as RegExpExecArray)[0];
    const kept = known.length === numbers.length ? found : `${blanks}[${known.join(', ')}]`;
    for (const number of new Set(known)) {
      const { storage, id, text, score, metadata } = this.#records[number - 1] as Knowledge;
      this.citations.push({
        kind: 'mark',
        storage,
        id,
        start: 0,
        end: text.length,
        reply_start: position + blanks.length,
        reply_end: position + kept.length,
        score,
        metadata,
      });
    }
    return kept;
  }
}
