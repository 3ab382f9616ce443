import { fail } from '../../../protocol/errors.js';
import type { Interaction } from '../../interaction.js';
import type { PatternShare } from '../../lists/pattern-thread.js';
import { findPatterns, type Pattern } from '../../lists/patterns.js';
import type { AgentNode, NodeOutcome, NodePlan, NodeType } from '../../node.js';
import { parseParams } from '../../params.js';
import { type GuardrailMatch, schema } from './schema.js';

/** Longest message that is searched, in UTF-16 units. */
const maxMessageLength = 131_072;

/**
 * Most work for one pattern, which cannot be interrupted, in instructions x UTF-16 units. One unit of work takes at most
 * about 0.1 us, usually far less. The longest pattern of the default list has 203 instructions.
 */
const maxPatternWork = 256 * maxMessageLength;

/** Longest match shown in a component, in characters. */
const longestShownMatch = 256;

/** Searches the user's message for patterns, appends one component per match, and may jump to another node. */
export const node: NodeType = {
  plan(id, params, where): NodePlan {
    const { string_storage, on_match } = parseParams(schema.params, params, where);
    return {
      id,
      type: schema.type,
      ...(on_match !== undefined && { branch: { target: on_match, path: `${where}.params.on_match` } }),
      open: async ({ lists, root, memory, patterns: thread, signal }) => {
        const field = `${where}.params.string_storage`;
        const patterns = await lists.patterns(string_storage, field, root, { memory, thread, signal });
        return new RegexGuardrailNode(id, patterns, thread, on_match);
      },
    };
  },
};

class RegexGuardrailNode implements AgentNode {
  readonly id: string;
  readonly type = schema.type;
  readonly #patterns: readonly Pattern[];
  readonly #thread: PatternShare;
  readonly #onMatch: string | undefined;
  readonly #maxLength: number;

  constructor(id: string, patterns: readonly Pattern[], thread: PatternShare, onMatch: string | undefined) {
    this.id = id;
    this.#patterns = patterns;
    this.#thread = thread;
    this.#onMatch = onMatch;
    const largest = patterns.reduce((most, { size }) => Math.max(most, size), 1);
    this.#maxLength = Math.min(maxMessageLength, Math.floor(maxPatternWork / largest));
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome> {
    const { text } = interaction;
    if (text.length > this.#maxLength) this.#refuseLength(text.length);
    const matches = await this.#search(text, signal);
    interaction.append(matches);
    return {
      report: { matches: matches.length },
      jump: matches.length > 0 ? this.#onMatch : undefined,
    };
  }

  async close(): Promise<void> {}

  #refuseLength(length: number): never {
    const limit = this.#maxLength;
    const problem = `has ${length} characters; the guardrail ${JSON.stringify(this.id)} checks at most ${limit}`;
    fail(4012, `text: ${problem}`, { path: 'text', node: this.id, length, limit });
  }

  async #search(text: string, signal: AbortSignal): Promise<GuardrailMatch[]> {
    const found = await findPatterns(this.#patterns, text, this.#thread, signal);
    return found.map(({ pattern: { source, line }, start, end }) => {
      const match = text.slice(start, Math.min(end, start + longestShownMatch));
      return { _type: 'guardrail_match', node: this.id, pattern: source, line, match, start, end };
    });
  }
}
