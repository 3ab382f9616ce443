/**
 * lorekeep's own runtime of language models (native/decoder): everything that holds for llama.cpp, and what holds for it
 * alone. decoders.test.ts compares its log-probabilities with recordings of llama.cpp.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type GenerateRequest, LanguageModel } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { writeDecoderModel } from '../helpers/models.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

process.env.LOREKEEP_RUNTIME = 'decoder'; // what `auto` chooses, where it can
await import('./language-model-kinds.test.js');
await import('./prefix.test.js');
await import('./language-model.scheduling.slow.test.js');

const folder = temporaryFolder();
const own = { runtime: 'decoder', threads: 1, batchThreads: 1 } as const;
const tokens = (length: number, salt: number) =>
  Int32Array.from({ length }, (_, i) => 3 + ((i * 7 + salt * 31 + ((i * salt) % 13)) % 256));

describe('the own runtime', () => {
  const path = writeDecoderModel('own-runtime.gguf', { pooling: null, contextSize: 1024 });
  const request = (salt: number): GenerateRequest => ({
    prompt: tokens(150 + 11 * salt, salt),
    maxTokens: 24,
    seed: salt,
    logprobs: 3,
  });

  test('gives the same log-probabilities for every chunk size and number of threads, alone and beside others', async () => {
    const salts = [1, 2, 3, 4, 5, 6];
    const model = await LanguageModel.load(await path, { ...own, kvCells: 4096 });
    expect(model.facts.runtime).toBe('decoder');
    const expected = [];
    for (const salt of salts) expected.push((await model.generate(request(salt)).result).logprobs);
    await model.close();
    for (const options of [{ batchSize: 7 }, { batchSize: 64, batchThreads: 3 }, { threads: 4 }]) {
      const other = await LanguageModel.load(await path, { ...own, ...options, kvCells: 4096 });
      const results = await Promise.all(salts.map((salt) => other.generate(request(salt)).result));
      expect(results.map(({ logprobs }) => logprobs)).toEqual(expected);
      // Again, from whatever is in the cache.
      const again = await Promise.all(salts.map((salt) => other.generate(request(salt)).result));
      expect(again.map(({ logprobs }) => logprobs)).toEqual(expected);
      expect(again.every(({ usage }) => usage.cached > 0)).toBe(true);
      await other.close();
    }
  });

  test('agrees with llama.cpp', async () => {
    const found = [];
    for (const runtime of ['llama.cpp', 'decoder'] as const) {
      const model = await LanguageModel.load(await path, { ...own, runtime });
      expect(model.facts.runtime).toBe(runtime);
      const { logprobs } = await model.generate({
        ...request(1),
        sampling: { temperature: 0 },
        logprobs: 1,
      }).result;
      found.push(logprobs?.map(({ token, logprob }) => ({ token, logprob })) ?? []);
      await model.close();
    }
    const [llama, decoder] = found as [(typeof found)[0], (typeof found)[0]];
    expect(decoder.map(({ token }) => token)).toEqual(llama.map(({ token }) => token));
    for (const [i, { logprob }] of decoder.entries())
      expect(Math.abs(logprob - (llama[i]?.logprob ?? 0))).toBeLessThan(0.02);
  });

  test('keeps keys and values in 8 bits on request: nearly the same probabilities, whatever runs beside them', async () => {
    const logprobs = async (model: LanguageModel) => {
      const sampling = { temperature: 0 };
      const asked = [1, 2, 3].map((salt) => ({ ...request(salt), sampling, maxTokens: 1, logprobs: 8 }));
      const results = await Promise.all(asked.map((each) => model.generate(each).result));
      return results.map((result) => result.logprobs?.[0]?.top ?? []);
    };
    const wide = await LanguageModel.load(await path, { ...own, kvCells: 4096 });
    const expected = await logprobs(wide);
    const narrow = await LanguageModel.load(await path, { ...own, kvCells: 4096, kvCacheType: 'q8_0' });
    const found = await logprobs(narrow);
    for (const [i, top] of expected.entries())
      for (const { token, logprob } of top.slice(0, 4)) {
        const close = found[i]?.find((other) => other.token === token)?.logprob ?? Number.NEGATIVE_INFINITY;
        expect(Math.abs(close - logprob)).toBeLessThan(0.1);
      }
    expect(found).not.toEqual(expected);
    const options = { ...own, batchSize: 9, kvCells: 4096, kvCacheType: 'q8_0' } as const;
    const other = await LanguageModel.load(await path, options);
    expect(await logprobs(other)).toEqual(found);
    const file = folder('narrow.prefix');
    await (await narrow.prefix(tokens(70, 1))).save(file);
    await rejection(wide.loadPrefix(file), 'UNSUPPORTED');
    await (await other.loadPrefix(file)).close();
    for (const model of [wide, narrow, other]) await model.close();
    await rejection(LanguageModel.load(await path, { kvCacheType: 'q4_0' as 'q8_0' }), 'INVALID_ARGUMENT');
  });

  test('refuses the prefixes of llama.cpp, and llama.cpp its own', async () => {
    const models = [];
    for (const runtime of ['llama.cpp', 'decoder'] as const)
      models.push(await LanguageModel.load(await path, { ...own, runtime }));
    const [llama, decoder] = models as [LanguageModel, LanguageModel];
    for (const [from, to] of [
      [llama, decoder],
      [decoder, llama],
    ] as const) {
      const file = folder(`${from.facts.runtime}.prefix`);
      await (await from.prefix(tokens(70, 1))).save(file);
      await rejection(to.loadPrefix(file), 'UNSUPPORTED');
      await (await from.loadPrefix(file)).close();
    }
    for (const model of models) await model.close();
  });

  test('says what it cannot compute: an unknown key, an unknown tensor, another format', async () => {
    const refused = async (edit: Parameters<typeof writeDecoderModel>[1], reason: RegExp) => {
      const file = await writeDecoderModel(`refused-${refusals++}.gguf`, { pooling: null, ...edit });
      const error = await rejection(LanguageModel.load(file, own), 'UNSUPPORTED');
      expect(error.message).toMatch(reason);
      const model = await LanguageModel.load(file, { ...own, runtime: 'auto' });
      expect(model.facts.runtime).toBe('llama.cpp');
      await model.close();
    };
    let refusals = 0;
    await refused(
      { edit: (file) => void file.set('qwen3.attention.scale', { type: 'f32', value: 1 }) },
      /'qwen3.attention.scale' is unknown/,
    );
    await refused(
      {
        edit: (file) => {
          file.set('qwen3.rope.scaling.type', { type: 'string', value: 'yarn' });
          file.set('qwen3.rope.scaling.factor', { type: 'f32', value: 2 });
        },
      },
      /positions are scaled/,
    );
  });

  test('knows its memory before it loads', async () => {
    const file = folder('estimate.gguf');
    await writeTinyDecoder('llama', file);
    const { devices } = await LanguageModel.estimate(file, { ...own, contextSize: 256 });
    expect(devices).toHaveLength(1);
    // Layers, heads, keys and values, dimensions and bytes; and a scale of four bytes for each key and value.
    expect(devices[0]?.context).toBe(256 * 2 * 2 * (2 * 16 * 2 + 2 * 4));
    const narrow = await LanguageModel.estimate(file, { ...own, contextSize: 256, kvCacheType: 'q8_0' });
    // A byte for each number, and two for each key and value of a token and a head.
    expect(narrow.devices[0]?.context).toBe(256 * 2 * 2 * 2 * (16 + 2));
    expect(devices[0]?.model).toBeGreaterThan(0);
    expect(devices[0]?.compute).toBeGreaterThan(0);
  });

  test('is measured by the first load, and its result kept for the next ones', async () => {
    const file = await writeDecoderModel('measured.gguf', { pooling: null, seed: 77 });
    const cache = join(folder('cache'), 'generation-settings.json');
    const { LOREKEEP_RUNTIME, LOREKEEP_CACHE } = process.env;
    process.env.LOREKEEP_CACHE = folder('cache');
    const estimated = async (path: string, runtime: 'auto' | 'llama.cpp' | 'decoder') =>
      (await LanguageModel.estimate(path, { threads: 1, runtime })).total;
    delete process.env.LOREKEEP_RUNTIME;
    try {
      const candidates = ['llama.cpp', 'decoder'];
      const totals = [await estimated(file, 'llama.cpp'), await estimated(file, 'decoder')];
      expect(await estimated(file, 'auto')).toBe(Math.max(...totals));
      const first = await LanguageModel.load(file, { threads: 1 });
      const { fingerprint, runtime } = first.facts;
      expect(first.facts).toMatchObject({ candidates, measured: true });
      expect(candidates).toContain(runtime);
      expect(JSON.parse(readFileSync(cache, 'utf8')).entries).toMatchObject([
        { fingerprint, runtime, candidates },
      ]);
      await first.close();
      expect(await estimated(file, 'auto')).toBe(totals[candidates.indexOf(runtime)]);
      // What was measured earlier decides, whichever it is.
      for (const [seed, remembered] of [
        [78, 'llama.cpp'],
        [79, 'decoder'],
      ] as const) {
        const path = await writeDecoderModel(`measured-${seed}.gguf`, { pooling: null, seed });
        const forced = await LanguageModel.load(path, own);
        expect(forced.facts).toMatchObject({ candidates: [], measured: false });
        const [entry] = JSON.parse(readFileSync(cache, 'utf8')).entries;
        const entries = [{ ...entry, fingerprint: forced.facts.fingerprint, runtime: remembered }];
        writeFileSync(cache, JSON.stringify({ entries }));
        await forced.close();
        const next = await LanguageModel.load(path, { threads: 1 });
        expect(next.facts).toMatchObject({ runtime: remembered, candidates, measured: false });
        await next.close();
        writeFileSync(cache, JSON.stringify({ entries: [entry] }));
      }
    } finally {
      Object.assign(process.env, { LOREKEEP_RUNTIME });
      if (LOREKEEP_CACHE === undefined) delete process.env.LOREKEEP_CACHE;
      else process.env.LOREKEEP_CACHE = LOREKEEP_CACHE;
    }
  });

  test('is a choice of three', async () => {
    const file = await path;
    await rejection(LanguageModel.load(file, { runtime: 'fast' as 'auto' }), 'INVALID_ARGUMENT');
  });
});
