import type { Storage } from '../../lib/index.js';
import type { Bytes } from '../limits/bytes.js';
import type { Citation, SharedComponent } from '../protocol/components.js';
import { fail } from '../protocol/errors.js';

/** What nodes read and append; each type of node may have some of its own. */
export type Component = SharedComponent | { readonly _type: string };

/** Behind the knowledge components of one node: what was looked for, and where. It is never sent. */
export interface KnowledgeSource {
  readonly query: string;
  readonly storage: Pick<Storage, 'tokenizer' | 'size' | 'documentFrequency'>;
}

/** A citation whose places in the reply are those within one node's part of it. */
export type OwnCitation = Omit<Citation, 'node'>;

/** What one turn is about: the user's message, the turn's variables, and all that its nodes have added. */
export class Interaction {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly components: Component[];
  /** By the id of the node that found the knowledge. */
  readonly sources: Map<string, KnowledgeSource> = new Map();
  readonly citations: Citation[] = [];
  /** Waits until there is memory for results that a node is about to get, and counts it until the turn has ended. */
  readonly reserve: (bytes: Bytes, signal: AbortSignal) => Promise<void>;
  readonly #onText: (piece: string) => void;
  readonly #limit: number;
  #size = 0;
  #replyText = '';

  /** `onText` gets the reply in pieces, as nodes make it; `limit` is for what they append, as sizeOf() counts it. */
  constructor(
    text: string,
    variables: Readonly<Record<string, unknown>>,
    onText: (piece: string) => void = () => {},
    limit = Number.POSITIVE_INFINITY,
    reserve: Interaction['reserve'] = async () => {},
  ) {
    this.text = text;
    this.variables = variables;
    this.components = [{ _type: 'human_message', text }];
    this.#onText = onText;
    this.reserve = reserve;
    this.#limit = limit;
  }

  /** The reply so far: all pieces together. */
  get replyText(): string {
    return this.#replyText;
  }

  /** @throws InteractionTooLarge, with nothing appended */
  append(components: readonly Component[]): void {
    this.#size += sizeOf(components);
    if (this.#size > this.#limit) {
      const most = `the nodes of one turn may find and reply ${this.#limit} bytes together`;
      fail(4014, `${most}; ask for fewer hits, or in fewer nodes`, { limit: this.#limit });
    }
    for (const component of components) this.components.push(component);
  }

  /** Adds a whole reply of a node, unless it is too large; replies of several nodes are lines of one text. */
  reply(node: string, text: string, citations: readonly OwnCitation[] = []): void {
    const separator = this.#replyText === '' ? '' : '\n';
    const offset = this.#replyText.length + separator.length;
    const cited = citations.map(({ reply_start, reply_end, ...citation }) => ({
      node,
      ...citation,
      reply_start: offset + reply_start,
      reply_end: offset + reply_end,
    }));
    this.append([
      { _type: 'character_reply', node, text },
      ...cited.map((citation) => ({ _type: 'citation' as const, ...citation })),
    ]);
    this.citations.push(...cited);
    this.#replyText += separator + text;
    this.#onText(separator + text);
  }
}

/** What a value and a key take beside their text, about. */
const valueBytes = 16;

/** About what a value takes in memory, and as JSON: its texts, and a little for each value in it. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return valueBytes + value.length;
  if (typeof value !== 'object' || value === null) return valueBytes;
  return Object.values(value).reduce((sum: number, part) => sum + sizeOf(part), valueBytes);
}
