import { wholeCharacters } from './answer.js';

/** Passes a text on up to the first stop text. Holds back what may be the beginning of one, or half a character. */
export class StopTexts {
  readonly #stops: readonly StopText[];
  #held = '';
  /** Whether a stop text was found. */
  found = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops.map((stop) => new StopText(stop));
  }

  push(text: string): string {
    if (this.found) return '';
    const all = this.#held + text;
    const begins = this.#stops.map((stop) => stop.read(text)).filter((begin) => begin !== undefined);
    if (begins.length > 0) {
      this.found = true;
      this.#held = '';
      return wholeCharacters(all.slice(0, all.length - text.length + Math.min(...begins)));
    }
    const half = /[\ud800-\udbff]$/.test(all) ? 1 : 0;
    const end = all.length - Math.max(half, ...this.#stops.map(({ matched }) => matched));
    this.#held = all.slice(end);
    return wholeCharacters(all.slice(0, end));
  }

  /** Returns what was held back. */
  finish(): string {
    const rest = this.#held;
    this.#held = '';
    return wholeCharacters(rest);
  }
}

/** Looks for one text in pieces of another, each character once (Knuth, Morris and Pratt). */
class StopText {
  /** Characters of it that end what was read. */
  matched = 0;
  readonly #text: string;
  /** By length of its beginning: the longest shorter beginning that ends this one. */
  readonly #shorter: Uint16Array;

  constructor(text: string) {
    this.#text = text;
    this.#shorter = new Uint16Array(text.length + 1);
    for (let at = 1; at < text.length; at++) this.#shorter[at + 1] = this.#after(text[at], this.#shorter[at]);
  }

  /** Returns where it begins in the piece, below 0 in one before; undefined while it has not ended. */
  read(piece: string): number | undefined {
    for (let at = 0; at < piece.length; at++) {
      this.matched = this.#after(piece[at], this.matched);
      if (this.matched === this.#text.length) return at + 1 - this.matched;
    }
    return undefined;
  }

  /** The characters that match after one more. */
  #after(character: string | undefined, matched = 0): number {
    let length = matched;
    while (length > 0 && this.#text[length] !== character) length = this.#shorter[length] ?? 0;
    return this.#text[length] === character ? length + 1 : 0;
  }
}
