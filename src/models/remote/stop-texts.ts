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
  /** UTF-16 code units: strings of one character each would take ten times as long. */
  readonly #codes: Uint16Array;
  /** By length of its beginning: the longest shorter beginning that ends this one. */
  readonly #shorter: Uint16Array;

  constructor(text: string) {
    this.#codes = Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
    this.#shorter = new Uint16Array(text.length + 1);
    for (let at = 1; at < text.length; at++)
      this.#shorter[at + 1] = after(
        this.#codes,
        this.#shorter,
        text.charCodeAt(at),
        this.#shorter[at] as number,
      );
  }

  /** Returns where it begins in the piece, below 0 in one before; undefined while it has not ended. */
  read(piece: string): number | undefined {
    const codes = this.#codes;
    const shorter = this.#shorter;
    const whole = codes.length;
    let { matched } = this;
    for (let at = 0; at < piece.length; at++) {
      matched = after(codes, shorter, piece.charCodeAt(at), matched);
      if (matched < whole) continue;
      this.matched = matched;
      return at + 1 - matched;
    }
    this.matched = matched;
    return undefined;
  }
}

/** The characters that match after one more. */
function after(codes: Uint16Array, shorter: Uint16Array, code: number, matched: number): number {
  let length = matched;
  while (length > 0 && codes[length] !== code) length = shorter[length] as number;
  return codes[length] === code ? length + 1 : 0;
}
