import { rmSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EmbeddingModel, LanguageModel, Reranker } from '../../lib/index.js';
import { describeModel } from '../../lib/internal.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert, writeDecoderModel } from '../helpers/models.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { splitModel } from '../helpers/split-model.js';

const folder = temporaryFolder();
let folders = 0;

const split = (path: string, parts = 3, first = 1) =>
  splitModel(path, folder(`ünd ${++folders}`), parts, first);
const total = (paths: readonly string[]) => paths.reduce((sum, path) => sum + statSync(path).size, 0);

describe('a split model', () => {
  test.each(['llama.cpp', 'decoder'] as const)(
    'generates with %s as the whole file does',
    async (runtime) => {
      const whole = await writeDecoderModel('whole.gguf', { pooling: null });
      const options = { runtime, threads: 1, batchThreads: 1, contextSize: 128 };
      const request = { prompt: Int32Array.of(3, 4, 5, 6), maxTokens: 12, sampling: { temperature: 0 } };
      const found = [];
      // A first part may hold keys alone.
      for (const parts of [[whole], split(whole), split(whole, 4, 0)]) {
        await using model = await LanguageModel.load(parts[0] as string, options);
        expect(model.facts.runtime).toBe(runtime);
        const { tokens } = await model.generate(request).result;
        const { devices } = await LanguageModel.estimate(parts[0] as string, options);
        found.push({ tokens, devices, parameters: model.facts.parameters });
      }
      expect(found[1]).toEqual(found[0]);
      expect(found[2]).toEqual(found[0]);
    },
  );

  test('embeds as the whole file does, with every runtime', async () => {
    const whole = await tinyBert({ weightType: 'Q8_0' }); // for all runtimes
    const parts = split(whole);
    const [first = ''] = parts;
    const load = async (path: string, runtime: string) => {
      await using model = await EmbeddingModel.load(path, { runtime });
      return [...(await model.embed('kings and queens'))];
    };
    await using model = await EmbeddingModel.load(first);
    expect(model.facts.sizeBytes).toBe(total(parts));
    expect(model.facts.candidates.length).toBeGreaterThan(1);
    for (const runtime of model.facts.candidates)
      expect(await load(first, runtime), runtime).toEqual(await load(whole, runtime));
  });

  test('reranks as the whole file does', async () => {
    const whole = await tinyReranker('two-layer', { contextSize: 128 });
    const scores = [];
    for (const path of [whole, split(whole)[0] as string]) {
      await using model = await Reranker.load(path);
      scores.push((await model.rank('a king', ['the king keeps gold', 'a tree'])).results);
    }
    expect(scores[1]).toEqual(scores[0]);
  });

  test('is described as a whole', async () => {
    const whole = await tinyBert();
    const parts = split(whole);
    const one = await describeModel(whole);
    expect(await describeModel(parts[0] as string)).toEqual({ ...one, bytes: total(parts), parts: 3 });
  });

  test('names a part that is missing, and the first part where another one is given', async () => {
    const parts = split(await tinyBert());
    const second = await rejection(EmbeddingModel.load(parts[1] as string), 'MODEL_INVALID');
    expect(second.message).toMatch(
      /part 2 of 3 of a split model; name the first part, .*-00001-of-00003\.gguf$/,
    );
    rmSync(parts[2] as string);
    for (const load of [EmbeddingModel.load, LanguageModel.load, Reranker.load, describeModel]) {
      const { message } = await rejection(load(parts[0] as string), 'NOT_FOUND');
      expect(message).toContain(`${basename(parts[2] as string)}: part 3 of 3 of a split model is missing`);
    }
  });
});
