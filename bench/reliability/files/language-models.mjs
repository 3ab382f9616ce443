// Language models and saved prefixes, as both runtimes read them.
import { readFileSync } from 'node:fs';
import { LanguageModel, LorekeepError } from '../../lorekeep.mjs';

const runtimes = ['decoder', 'llama.cpp'];
const options = { threads: 1, batchThreads: 1, contextSize: 256 };

/** What the model continues a prompt with. */
async function reply(model, prompt) {
  const request = { prompt, maxTokens: 4, seed: 1, sampling: { temperature: 0 } };
  const { text, usage } = await model.generate(request).result;
  return JSON.stringify([text, usage.completion]);
}

const saneReply = (answer) => (JSON.parse(answer)[1] <= 4 ? undefined : 'a reply that is too long');

/** Sizes that a forger states may be more than there is room for. */
async function refusingSizes(load) {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'OUT_OF_MEMORY') throw error;
    throw new LorekeepError('CORRUPT', error.message, {}, { cause: error });
  }
}

export async function languageModelLoaders(sample) {
  const file = sample.at('writer.gguf');
  const prompt = sample.questions.join(' ');
  const loaders = [];
  for (const runtime of runtimes) {
    const load = (path) =>
      refusingSizes(async () => {
        const model = await LanguageModel.load(path, { ...options, runtime });
        return await reply(model, sample.questions[0]).finally(() => model.close());
      });
    loaders.push({
      name: `language model (GGUF), ${runtime}`,
      weight: 1,
      load,
      check: saneReply,
      bytes: readFileSync(file),
    });
    loaders.push(await prefixes(file, runtime, prompt, sample.at('saved')));
  }
  return loaders;
}

/** The model stays open: a forged prefix must not change what it says afterwards either. */
async function prefixes(file, runtime, prompt, path) {
  const model = await LanguageModel.load(file, { ...options, runtime });
  const saved = await model.prefix(prompt);
  await saved.save(path);
  await saved.close();
  const load = (mutated) =>
    refusingSizes(async () => {
      const prefix = await model.loadPrefix(mutated);
      return await reply(model, prompt).finally(() => prefix.close());
    });
  const name = `saved prefix, ${runtime}`;
  return { name, weight: 10, sealed: true, load, check: saneReply, bytes: readFileSync(path) };
}
