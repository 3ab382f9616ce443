import OpenAI from 'openai';
import { type FakeOptions, FakeTextModel } from '../helpers/fake-text-model.js';
import { type Door, door } from './door-setting.js';

/** A server whose language model is fake, and a client of it. */
export async function openAiSetting(
  options: FakeOptions = {},
): Promise<Door & { client: OpenAI; model: FakeTextModel }> {
  const model = new FakeTextModel(options);
  const opened = await door({}, { loadLanguageModel: async () => model });
  const client = new OpenAI({
    apiKey: 'unused',
    baseURL: `http://127.0.0.1:${opened.port}/v1`,
    maxRetries: 0,
  });
  return { ...opened, client, model };
}

export const ask = (content: string) => [{ role: 'user' as const, content }];
