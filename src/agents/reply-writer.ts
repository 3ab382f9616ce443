import type { Citation } from '../protocol/components.js';
import type { TokenLogprobs } from '../protocol/engine.js';
import type { Component, OwnCitation, TextPiece } from './component.js';

/** The interaction that a reply belongs to. */
interface ReplyTarget {
  tell(piece: TextPiece): void;
  /** Counts what will be sent. @throws InteractionTooLarge */
  grow(sent: string | readonly TokenLogprobs[]): void;
  /** `counted`: how much of the components was counted by grow(). @throws InteractionTooLarge */
  append(components: readonly Component[], citations: readonly Citation[], counted: number): void;
}

/** Writes one node's reply in pieces. */
export class ReplyWriter {
  readonly #node: string;
  /** Precedes the first piece. */
  readonly #separator: string;
  /** Position of the separator in the turn's text. */
  readonly #start: number;
  readonly #target: ReplyTarget;
  #text = '';
  #logprobs: TokenLogprobs[] = [];

  /** @internal Use Interaction.startReply(). */
  constructor(node: string, separator: string, start: number, target: ReplyTarget) {
    this.#node = node;
    this.#separator = separator;
    this.#start = start;
    this.#target = target;
  }

  /** The reply so far. */
  get text(): string {
    return this.#text;
  }

  /** Sends the next piece of the reply. @throws InteractionTooLarge */
  write(text: string): void {
    if (text === '') return;
    this.#target.grow(text);
    const before = this.#text === '' ? this.#separator : '';
    this.#text += text;
    this.#tell(before + text);
  }

  /** Adds tokens to the next piece. @throws InteractionTooLarge */
  score(tokens: readonly TokenLogprobs[]): void {
    this.#target.grow(tokens);
    for (const token of tokens) this.#logprobs.push(token);
  }

  /** Sends a piece that is no part of the reply. */
  think(text: string): void {
    if (text !== '') this.#target.tell({ node: this.#node, kind: 'thinking', text });
  }

  /** Appends the reply as components; an empty reply leaves none. @throws InteractionTooLarge */
  end(citations: readonly OwnCitation[] = []): void {
    if (this.#logprobs.length > 0) this.#tell('');
    if (this.#text === '') return;
    const offset = this.#start + this.#separator.length;
    const cited = citations.map(({ reply_start, reply_end, ...citation }) => ({
      node: this.#node,
      ...citation,
      reply_start: offset + reply_start,
      reply_end: offset + reply_end,
    }));
    this.#target.append(
      [
        { _type: 'character_reply', node: this.#node, text: this.#text },
        ...cited.map((citation) => ({ _type: 'citation' as const, ...citation })),
      ],
      cited,
      this.#text.length,
    );
  }

  #tell(text: string): void {
    const logprobs = this.#logprobs;
    this.#logprobs = [];
    this.#target.tell({
      node: this.#node,
      kind: 'reply',
      text,
      ...(logprobs.length > 0 && { logprobs }),
    });
  }
}
