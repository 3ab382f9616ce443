import type { ChatMessage, GenerateRequest, TextModel } from '../../../catalog/text-model.js';
import { countEach } from './count-each.js';

/** A prompt in the form that a model takes, with its tokens counted. */
export interface CountedPrompt {
  readonly tokens: number;
  /** Tokens that each message adds. */
  readonly messageTokens: readonly number[];
  readonly request: Pick<GenerateRequest, 'prompt'>;
}

/** Before each message of a prompt for a model without a chat template; its replies continue the text directly. */
const plainSeparator = '\n\n';

/** Renders messages with the model's chat template; a model without one gets their texts. */
export async function countPrompt(
  model: TextModel,
  messages: readonly ChatMessage[],
  thinking: 'on' | 'off',
): Promise<CountedPrompt> {
  if (!model.facts.chatTemplate) return countPlain(model, messages);
  const prompt = await model.render(messages, { thinking, addGenerationPrompt: true });
  return { tokens: prompt.tokens.length, messageTokens: prompt.messageTokens, request: { prompt } };
}

async function countPlain(model: TextModel, messages: readonly ChatMessage[]): Promise<CountedPrompt> {
  const texts = messages.map(({ role, content }, index) =>
    index === 0 || role === 'assistant' ? content : plainSeparator + content,
  );
  const messageTokens = await countEach(model, texts);
  const prompt = texts.join('');
  // One for the token that many vocabularies begin a text with.
  const tokens = (await model.countTokens(prompt)) + 1;
  return { tokens, messageTokens, request: { prompt } };
}
