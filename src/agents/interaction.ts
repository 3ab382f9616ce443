import type { Component } from '../protocol/components.js';

/** What one turn is about: the user's message, the turn's variables, and all that its nodes have added. */
export class Interaction {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly components: Component[];
  readonly #onText: (piece: string) => void;
  #replyText = '';

  /** `onText` gets the reply in pieces, as nodes make it. */
  constructor(
    text: string,
    variables: Readonly<Record<string, unknown>>,
    onText: (piece: string) => void = () => {},
  ) {
    this.text = text;
    this.variables = variables;
    this.components = [{ _type: 'human_message', text }];
    this.#onText = onText;
  }

  /** The reply so far: all pieces together. */
  get replyText(): string {
    return this.#replyText;
  }

  append(components: readonly Component[]): void {
    for (const component of components) this.components.push(component);
  }

  /** Adds a whole reply of a node; replies of several nodes are lines of one text. */
  reply(node: string, text: string): void {
    this.components.push({ _type: 'character_reply', node, text });
    const piece = this.#replyText === '' ? text : `\n${text}`;
    this.#replyText += piece;
    this.#onText(piece);
  }
}
