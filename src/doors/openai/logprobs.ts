import { z } from 'zod';
import type { TokenLogprobs } from '../../protocol/engine.js';
import type { ServerFrames } from '../../protocol/frames.js';
import type { Graph } from '../../protocol/graph.js';
import { HttpRefusal } from '../http/failure.js';
import { optional } from './fields.js';

export type { TokenLogprobs } from '../../protocol/engine.js';

/** Most alternatives of a token, as in the API of OpenAI. */
const mostAlternatives = 20;

export const topLogprobsField = optional(
  z.int().min(0).max(mostAlternatives, `at most ${mostAlternatives} are expected`),
).describe('Number of likeliest tokens in the place of each token.');

/** Returns the number of alternatives that a body asks for; undefined: no log-probabilities. `how`: the way to ask. @throws HttpRefusal */
export function wantedLogprobs(wanted: boolean, most: number | undefined, how: string): number | undefined {
  if (wanted) return most ?? 0;
  if (most === undefined || most === 0) return undefined;
  throw new HttpRefusal(
    400,
    'invalid_field',
    `top_logprobs: has no effect without ${how}; add it, or remove this field`,
    'top_logprobs',
  );
}

/** Returns the id of the node whose tokens are the reply of a graph. @throws HttpRefusal if they are not those of one node */
export function scoredNode({ nodes }: Graph, model: string, field: string): string {
  const [node, ...more] = nodes.filter(({ type }) => type === 'generate');
  const reason =
    node === undefined
      ? 'it has no language model that writes its replies'
      : more.length > 0
        ? 'several nodes of its graph generate'
        : node.params.cite === 'marks'
          ? 'its replies are corrected after they are generated: marks of unknown sources are removed'
          : undefined;
  if (node !== undefined && reason === undefined) return node.id;
  const problem = `${JSON.stringify(model)} gives no log-probabilities: ${reason}`;
  const fix = 'name a language model of /v1/models, or remove this field';
  throw new HttpRefusal(400, 'invalid_field', `${field}: ${problem}; ${fix}`, field);
}

/** A token, and its place in the generated text, in UTF-16 code units. */
interface Placed {
  readonly token: TokenLogprobs;
  readonly start: number;
  readonly end: number;
}

/**
 * The log-probabilities of one node's reply, beside its text: each token goes with the text in which it begins. Tokens of text
 * that is not sent, such as a tool call or a text that ended the reply, are left out.
 */
export class TextLogprobs {
  readonly #node: string;
  /** Ill-formed bytes become U+FFFD, as in the text. */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #waiting: Placed[] = [];
  /** Length of the text of all tokens, and of the white space that it begins with. */
  #generated = 0;
  #blanks = 0;
  /** End of the sent text in it. */
  #sent: number | undefined;
  /** Length of the line feed between this node's reply and the one before. */
  #separator = 0;

  constructor(node: string) {
    this.#node = node;
  }

  /** Takes a frame, and its text that is sent on. Returns the tokens that begin in that text. */
  push({ node, logprobs = [] }: ServerFrames['TurnText'], sent: string): TokenLogprobs[] {
    if (node !== this.#node) {
      if (sent !== '') this.#separator = 1;
      return [];
    }
    for (const token of logprobs) this.#add(token);
    const text = this.#sent === undefined ? sent.slice(this.#separator) : sent;
    if (text === '') return [];
    // White space after thinking belongs to no text.
    this.#sent ??= text.trimStart().length === text.length ? this.#blanks : 0;
    this.#sent += text.length;
    const end = this.#sent;
    return this.#take(({ start }) => start < end);
  }

  /** Takes the rest of the text. Returns its tokens, and those of a character that the end of the reply cut. */
  finish(rest = ''): TokenLogprobs[] {
    const sent = (this.#sent ?? 0) + rest.length;
    return this.#take(({ end }) => end <= sent);
  }

  #add(token: TokenLogprobs): void {
    const text = this.#decoder.decode(Uint8Array.from(token.bytes), { stream: true });
    const start = this.#generated;
    if (this.#blanks === start) this.#blanks += text.length - text.trimStart().length;
    this.#generated += text.length;
    this.#waiting.push({ token, start, end: this.#generated });
  }

  #take(isDue: (placed: Placed) => boolean): TokenLogprobs[] {
    const first = this.#waiting.findIndex((placed) => !isDue(placed));
    return this.#waiting.splice(0, first < 0 ? this.#waiting.length : first).map(({ token }) => token);
  }
}
