import { longestSentence, sentences } from '../quote/sentences.js';

/** When text is sent: at once, sentence by sentence, or at the end. */
export type Pace = 'piece' | 'sentence' | 'end';

/** Longest text that is held back, in UTF-16 units: each new token looks through all of it. */
const longestHeld = 2 * longestSentence;

/** The same before a word has come: line feeds and marks have no sentences. */
const longestWithoutWords = 64;

/** Collects text and sends it at a pace. The pieces sent add up to the text. */
export class Delivery {
  readonly #pace: Pace;
  readonly #send: (text: string) => void;
  #held = '';

  constructor(pace: Pace, send: (text: string) => void) {
    this.#pace = pace;
    this.#send = send;
  }

  push(text: string): void {
    if (text === '') return;
    this.#held += text;
    if (this.#pace === 'piece') this.finish();
    else if (this.#pace === 'sentence') this.#sendSentences(isSettled);
  }

  /** Sends the rest. */
  finish(): void {
    if (this.#pace === 'sentence') this.#sendSentences(() => true);
    if (this.#held !== '') this.#send(this.#held);
    this.#held = '';
  }

  /** Sends the sentences before the last one. `settled`: whether the last one begins there, whatever follows. */
  #sendSentences(settled: (text: string, begin: number) => boolean): void {
    const all = Array.from(sentences(this.#held), ({ start }) => start);
    const begins = all.slice(1);
    const last = begins.at(-1);
    if (last !== undefined && !settled(this.#held, last)) begins.pop();
    let from = 0;
    for (const begin of begins) {
      this.#send(this.#held.slice(from, begin));
      from = begin;
    }
    this.#held = this.#held.slice(from);
    if (this.#held.length <= (all.length === 0 ? longestWithoutWords : longestHeld)) return;
    this.#send(this.#held);
    this.#held = '';
  }
}

/** Whether a sentence ends before `begin`. After a full stop the next word decides: "Am 3. Oktober" goes on. */
function isSettled(text: string, begin: number): boolean {
  return !text.slice(0, begin).trimEnd().endsWith('.') || /^\S+\s/.test(text.slice(begin));
}
