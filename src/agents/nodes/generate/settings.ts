import { samplingOptions } from '../../../../lib/basics.js';
import type { GenerateRequest, TextModel } from '../../../models/text-model.js';
import { fail } from '../../../protocol/errors.js';
import { fromFields } from '../../../search/option-names.js';
import type { PromptLimits } from './fit.js';
import type { GenerateParams } from './schema.js';

/** Maximum number of tokens of a reply without `max_tokens`, also as a share of the context. */
const defaultReply = { tokens: 512, share: 1 / 4 };

/** Maximum number of tokens of thinking without a budget, also as a share of the context. */
const defaultThinking = { tokens: 1024, share: 1 / 4 };

/** Tokens of the tags around thinking and of the white space after it. */
const tagsOfThinking = 16;

/** Minimum number of tokens for a prompt. */
const minPrompt = 8;

/** A node's numbers of tokens. */
export interface TokenPlan {
  readonly limits: PromptLimits;
  readonly request: Pick<GenerateRequest, 'maxTokens' | 'maxReplyTokens' | 'thinking'>;
}

/**
 * Divides a context between the prompt, thinking and the reply, so that thinking never takes the reply's tokens.
 * @throws InvalidParam if nothing is left for the prompt, or the model cannot think
 */
export function planTokens(
  params: GenerateParams,
  facts: TextModel['facts'],
  context: number,
  where: string,
): TokenPlan {
  const { thinking, knowledge, history } = params;
  if (thinking !== 'off' && !facts.thinking) {
    const path = `${where}.params.thinking`;
    fail(4003, `${path}: this model does not think; "off" is expected`, { path });
  }
  const usual = ({ tokens, share }: typeof defaultReply) =>
    Math.max(1, Math.min(tokens, Math.floor(context * share)));
  const reply = params.max_tokens ?? usual(defaultReply);
  const budget = thinking === 'off' ? 0 : thinking === 'on' ? usual(defaultThinking) : thinking.budget;
  const reserved = reply + (budget === 0 ? 0 : budget + tagsOfThinking);
  if (reserved + minPrompt > context) {
    const path = `${where}.params.${params.max_tokens === undefined ? 'thinking' : 'max_tokens'}`;
    const what = `${reserved} tokens for the reply leave no room for the prompt in a context of ${context}`;
    fail(4003, `${path}: ${what}`, { path, tokens: reserved, context });
  }
  return {
    limits: {
      context,
      reserved,
      knowledge: knowledge.max_tokens,
      historyTurns: history.turns,
      thinking: thinking === 'off' ? 'off' : 'on',
    },
    request: {
      maxTokens: reserved,
      maxReplyTokens: reply,
      ...(facts.thinking && { thinking: budget === 0 ? 'off' : { budget } }),
    },
  };
}

/** The params that pass to the engine unchanged. */
export function engineParams(params: GenerateParams): Partial<GenerateRequest> {
  const { seed, stop, drafts, logprobs } = params;
  return {
    class: params.class,
    sampling: fromFields(samplingOptions, params),
    drafts,
    ...(seed !== undefined && { seed }),
    ...(stop && { stop }),
    ...(logprobs !== undefined && { logprobs }),
  };
}
