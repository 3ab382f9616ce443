import { wholeCharacters } from './answer.js';

/** Passes a text on up to the first stop text. Holds back what may be the beginning of one, or half a character. */
export class StopTexts {
  readonly #stops: readonly string[];
  #held = '';
  /** Whether a stop text was found. */
  found = false;

  constructor(stops: readonly string[]) {
    this.#stops = stops;
  }

  push(text: string): string {
    if (this.found) return '';
    const all = this.#held + text;
    const places = this.#stops.map((stop) => all.indexOf(stop)).filter((place) => place >= 0);
    if (places.length > 0) {
      this.found = true;
      this.#held = '';
      return wholeCharacters(all.slice(0, Math.min(...places)));
    }
    const end = all.length - this.#heldLength(all);
    this.#held = all.slice(end);
    return wholeCharacters(all.slice(0, end));
  }

  /** Returns what was held back. */
  finish(): string {
    const rest = this.#held;
    this.#held = '';
    return wholeCharacters(rest);
  }

  #heldLength(text: string): number {
    let most = /[\ud800-\udbff]$/.test(text) ? 1 : 0;
    for (const stop of this.#stops)
      for (let length = Math.min(stop.length - 1, text.length); length > most; length--)
        if (stop.startsWith(text.slice(text.length - length))) most = length;
    return most;
  }
}
