import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { temporaryFolder } from '../../test/helpers/folder.js';

const { writeRandomModel } = await import(join(import.meta.dirname, '..', 'generation', 'models.mjs'));
const folder = temporaryFolder();
const shape = {
  architecture: 'llama',
  layers: 2,
  width: 64,
  heads: 4,
  kvHeads: 2,
  feedForward: 96,
  vocabulary: 512,
  untied: true,
};
test('a random model is the same each time, and its logits are finite', async () => {
  const [model, again] = [folder('random.gguf'), folder('again.gguf')];
  await writeRandomModel(model, shape);
  await writeRandomModel(again, shape);
  expect(readFileSync(again).equals(readFileSync(model))).toBe(true);
  const loaded = await LanguageModel.load(model, { contextSize: 64, placement: 'ram' });
  const prompt = Int32Array.from({ length: 20 }, (_, n) => 300 + n);
  const { logprobs } = await loaded.generate({ prompt, maxTokens: 1, logprobs: 20 }).result;
  const [first] = logprobs ?? [];
  expect(first?.top.length).toBe(20);
  for (const { logprob } of first?.top ?? []) expect(Number.isFinite(logprob)).toBe(true);
  await loaded.close();
});
