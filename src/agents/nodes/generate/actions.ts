import { parseWithWideIntegers } from '../../../base/schema/wide-integers.js';
import type { Action } from '../../../protocol/history.js';

/** First character of an action. The text of a reply never contains it. */
const opener = '{';

/** Splits a reply that arrives in pieces into its text and the action at its end. */
export class ActionSplitter {
  #heldBlanks = '';
  #action = '';

  /** Returns the text that can be sent. Blanks are held: they may only precede the action. */
  push(piece: string): string {
    if (this.#action !== '') {
      this.#action += piece;
      return '';
    }
    const text = this.#heldBlanks + piece;
    const at = text.indexOf(opener);
    const own = at < 0 ? text : text.slice(0, at);
    if (at >= 0) this.#action = text.slice(at);
    const end = own.trimEnd().length;
    this.#heldBlanks = at < 0 ? own.slice(end) : '';
    return own.slice(0, end);
  }

  /** The action, or undefined if there is none or it was cut. */
  finish(): Action | undefined {
    if (this.#action === '') return undefined;
    try {
      const { action: name, arguments: given } = parseWithWideIntegers(this.#action) as Record<
        string,
        unknown
      >;
      return typeof name === 'string' ? { name, arguments: given } : undefined;
    } catch {
      return undefined;
    }
  }
}
