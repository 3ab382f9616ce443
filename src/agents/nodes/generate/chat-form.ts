import { LorekeepError } from '../../../../lib/internal.js';
import type { ChatMessage, GenerateRequest } from '../../../models/text-model.js';
import { countEach, longestCounted, minTokens } from './count-each.js';
import type { PromptModel } from './prompt-model.js';

/** A prompt in the form that a model takes, with its tokens counted. */
export interface CountedPrompt {
  readonly tokens: number;
  /** Counting stopped when the prompt was too long: it has at least `tokens`, and no request. */
  readonly stopped?: true;
  /** Tokens that each message adds. */
  readonly messageTokens: readonly number[];
  readonly request: Pick<GenerateRequest, 'prompt'>;
}

/** Before each message of a prompt for a model without a chat template; its replies continue the text directly. */
const plainSeparator = '\n\n';

/** Characters that a token of ordinary text has at most, on average. */
export const usualToken = 8;

/**
 * Renders messages with the model's chat template; a model without one gets their texts. Long messages are counted first,
 * and not rendered if they must have more than `most` tokens: a model renders and tokenizes a prompt as a whole.
 */
export async function countPrompt(
  model: PromptModel,
  messages: readonly ChatMessage[],
  thinking: 'on' | 'off',
  most: number,
): Promise<CountedPrompt> {
  // Templates may trim messages.
  const texts = messages.map(({ content }) => content.trim());
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length > Math.max(most * usualToken, longestCounted)) {
    const counted = await countStopping(model, texts, most);
    if (counted.tokens > most) return counted;
  }
  try {
    if (!model.facts.chatTemplate) return await countPlain(model, messages);
    const prompt = await model.render(messages, { thinking, addGenerationPrompt: true });
    return { tokens: prompt.tokens.length, messageTokens: prompt.messageTokens, request: { prompt } };
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'TEXT_TOO_LONG') throw error;
    const { tokens, ...counted } = await countStopping(
      model,
      messages.map(({ content }) => content),
      most,
    );
    return { tokens: Math.max(tokens, model.facts.contextSize + 1), ...counted };
  }
}

/** Counts each text until it alone must have more than `most` tokens. */
async function countStopping(
  model: PromptModel,
  texts: readonly string[],
  most: number,
): Promise<CountedPrompt> {
  const messageTokens = await countEach(model, texts, most);
  const tokens = messageTokens.reduce((sum, count) => sum + minTokens(count), 0);
  return { tokens, stopped: true, messageTokens, request: {} };
}

async function countPlain(model: PromptModel, messages: readonly ChatMessage[]): Promise<CountedPrompt> {
  const texts = messages.map(({ role, content }, index) =>
    index === 0 || role === 'assistant' ? content : plainSeparator + content,
  );
  const messageTokens = await countEach(model, texts);
  const prompt = texts.join('');
  // One for the token that many vocabularies begin a text with.
  const tokens = (await model.countTokens(prompt)) + 1;
  return { tokens, messageTokens, request: { prompt } };
}
