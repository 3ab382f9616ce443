import type { Storage } from '../../lib/index.js';
import type { Bytes } from '../limits/bytes.js';
import type { Citation, SharedComponent } from '../protocol/components.js';
import { fail } from '../protocol/errors.js';

/** An entry of an interaction. Node types may add their own component types. */
export type Component = SharedComponent | { readonly _type: string };

/** The query and the storage behind the knowledge components of one node. Never sent. */
export interface KnowledgeSource {
  readonly query: string;
  readonly storage: Pick<Storage, 'tokenizer' | 'size' | 'documentFrequency'>;
}

/** A citation with positions relative to one node's part of the reply. */
export type OwnCitation = Omit<Citation, 'node'>;

/** The data of one turn: the user's message, the variables, and the components that nodes have appended. */
export class Interaction {
  readonly text: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly components: Component[];
  /** By id of the node that found the knowledge. */
  readonly sources: Map<string, KnowledgeSource> = new Map();
  readonly citations: Citation[] = [];
  /** Waits for memory for a node's results, and counts it until the turn ends. */
  readonly reserve: (bytes: Bytes, signal: AbortSignal) => Promise<void>;
  readonly #onText: (piece: string) => void;
  readonly #limit: number;
  #size = 0;
  #replyText = '';

  /** `onText` receives the pieces of the reply; `limit` bounds the appended components, as counted by sizeOf(). */
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

  /** The reply so far. */
  get replyText(): string {
    return this.#replyText;
  }

  /** @throws InteractionTooLarge, then nothing is appended */
  append(components: readonly Component[]): void {
    this.#size += sizeOf(components);
    if (this.#size > this.#limit) {
      const most = `the nodes of one turn may find and reply ${this.#limit} bytes together`;
      fail(4014, `${most}; ask for fewer hits, or in fewer nodes`, { limit: this.#limit });
    }
    for (const component of components) this.components.push(component);
  }

  /** Appends a node's whole reply. Replies of several nodes become lines of one text. @throws as append() */
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

/** Approximate bytes of a value and its key, besides their text. */
const valueBytes = 16;

/** Estimates the bytes of a value in memory and as JSON: its texts, plus `valueBytes` for each nested value. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return valueBytes + value.length;
  if (typeof value !== 'object' || value === null) return valueBytes;
  return Object.values(value).reduce((sum: number, part) => sum + sizeOf(part), valueBytes);
}
