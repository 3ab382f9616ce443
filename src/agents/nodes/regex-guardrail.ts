import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import type { GuardrailMatch } from '../../protocol/components.js';
import { fail } from '../../protocol/errors.js';
import { regexGuardrailParamsSchema } from '../../protocol/graph.js';
import type { Interaction } from '../interaction.js';
import type { Pattern } from '../lists/patterns.js';
import type { AgentNode, NodeOutcome, NodePlan, NodeType } from '../node.js';
import { parseParams } from '../params.js';

/** Longest message that is looked at, in UTF-16 units: one pattern takes some 0.3 microseconds for each. */
export const maxMessageLength = 131_072;

/** Work between two pauses, in patterns times units: a few milliseconds. */
const searchedAtOnce = 20_000;

/** Characters of a match that its component shows. */
const longestShownMatch = 256;

/** Looks for patterns in the user's message, adds one component per pattern found, and may send the turn elsewhere. */
export const regexGuardrail: NodeType = {
  plan(id, params, where): NodePlan {
    const { string_storage, on_match } = parseParams(regexGuardrailParamsSchema, params, where);
    return {
      id,
      type: 'regex_guardrail',
      ...(on_match !== undefined && { branch: { target: on_match, path: `${where}.params.on_match` } }),
      open: async ({ lists, root }) => {
        const patterns = await lists.patterns(string_storage, `${where}.params.string_storage`, root);
        return new RegexGuardrailNode(id, patterns, on_match);
      },
    };
  },
};

class RegexGuardrailNode implements AgentNode {
  readonly id: string;
  readonly type = 'regex_guardrail';
  readonly #patterns: readonly Pattern[];
  readonly #onMatch: string | undefined;

  constructor(id: string, patterns: readonly Pattern[], onMatch: string | undefined) {
    this.id = id;
    this.#patterns = patterns;
    this.#onMatch = onMatch;
  }

  async run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome> {
    const { text } = interaction;
    if (text.length > maxMessageLength) {
      const { length } = text;
      const shown = JSON.stringify(this.id);
      fail(
        4012,
        `text: has ${length} characters; the guardrail ${shown} looks at ${maxMessageLength} at most`,
        {
          path: 'text',
          node: this.id,
          length,
          limit: maxMessageLength,
        },
      );
    }
    const matches = await this.#search(text, signal);
    interaction.append(matches);
    return {
      report: { matches: matches.length },
      jump: matches.length > 0 ? this.#onMatch : undefined,
    };
  }

  async close(): Promise<void> {}

  async #search(text: string, signal: AbortSignal): Promise<GuardrailMatch[]> {
    const matches: GuardrailMatch[] = [];
    let searched = 0;
    for (const pattern of this.#patterns) {
      if (searched > searchedAtOnce) {
        searched = 0;
        await nextTurnOfLoop();
        signal.throwIfAborted();
      }
      searched += text.length;
      const match = this.#match(pattern, text);
      if (match !== undefined) matches.push(match);
    }
    return matches;
  }

  #match({ source, line, compiled }: Pattern, text: string): GuardrailMatch | undefined {
    const matcher = compiled.matcher(text);
    if (!matcher.find()) return undefined;
    const [start, end] = [matcher.start(), matcher.end()];
    const match = text.slice(start, Math.min(end, start + longestShownMatch));
    return { _type: 'guardrail_match', node: this.id, pattern: source, line, match, start, end };
  }
}
