import { sentences } from '../quote/sentences.js';

/** When text is sent: at once, sentence by sentence, or at the end. */
export type Pace = 'piece' | 'sentence' | 'end';

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
    else if (this.#pace === 'sentence') this.#sendSentences();
  }

  /** Sends the rest. */
  finish(): void {
    if (this.#held !== '') this.#send(this.#held);
    this.#held = '';
  }

  /** A sentence has ended when the next one has begun. */
  #sendSentences(): void {
    let last: number | undefined;
    let count = 0;
    for (const { start } of sentences(this.#held)) {
      last = start;
      count++;
    }
    if (count < 2 || last === undefined) return;
    this.#send(this.#held.slice(0, last));
    this.#held = this.#held.slice(last);
  }
}
