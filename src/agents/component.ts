import type { Citation, SharedComponent } from '../protocol/components.js';
import type { TokenLogprobs } from '../protocol/engine.js';

export type { Knowledge } from '../protocol/components.js';

/** An entry of an interaction. Node types may add their own component types. */
export type Component = SharedComponent | { readonly _type: string };

/** A citation with positions relative to one node's part of the reply. */
export type OwnCitation = Omit<Citation, 'node'>;

/** A piece of text for the client. */
export interface TextPiece {
  readonly node: string;
  readonly kind: 'reply' | 'thinking';
  readonly text: string;
  /** Tokens of the reply, generated since the piece before. */
  readonly logprobs?: TokenLogprobs[];
}
