// Language models and saved prefixes, as both runtimes read them.
import { readFileSync } from 'node:fs';
import { LanguageModel, LorekeepError } from '../../lorekeep.mjs';

const runtimes = ['decoder', 'llama.cpp'];
const options = { threads: 1, batchThreads: 1, contextSize: 256 };

/** The model's continuation of a prompt. */
async function reply(model, prompt) {
  const request = { prompt, maxTokens: 4, seed: 1, sampling: { temperature: 0 } };
  const { text, usage } = await model.generate(request).result;
  return JSON.stringify([text, usage.completion]);
}

const saneReply = (answer) => (JSON.parse(answer)[1] <= 4 ? undefined : 'a reply that is too long');

/** Sizes that a forger states may be more than there is room for. */
export async function refusingSizes(load) {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'OUT_OF_MEMORY') throw error;
    throw new LorekeepError('CORRUPT', error.message, {}, { cause: error });
  }
}

/** Loaders by name and weight; `make` loads the model, which the processes of other loaders need not. */
export function languageModelLoaders(sample) {
  return runtimes.flatMap((runtime) => [
    { name: `language model (GGUF), ${runtime}`, weight: 1, make: () => ofModel(sample, runtime) },
    { name: `saved prefix, ${runtime}`, weight: 10, make: () => ofPrefix(sample, runtime) },
  ]);
}

function ofModel(sample, runtime) {
  const load = (path) =>
    refusingSizes(async () => {
      const model = await LanguageModel.load(path, { ...options, runtime });
      return await reply(model, sample.questions[0]).finally(() => model.close());
    });
  return { load, check: saneReply, bytes: readFileSync(sample.at('writer.gguf')) };
}

/** The model stays open: a forged prefix must not change what it says afterwards either. */
async function ofPrefix(sample, runtime) {
  const model = await LanguageModel.load(sample.at('writer.gguf'), { ...options, runtime });
  const prompt = sample.questions.join(' ');
  const path = sample.at('saved');
  const saved = await model.prefix(prompt);
  await saved.save(path);
  await saved.close();
  const load = (mutated) =>
    refusingSizes(async () => {
      const prefix = await model.loadPrefix(mutated);
      return await reply(model, prompt).finally(() => prefix.close());
    });
  return { sealed: true, load, check: saneReply, bytes: readFileSync(path) };
}
