/**
 * Attention of llama.cpp in a cache of many sequences, for chunks of every size, against its simpler twin: `deterministic`
 * computes without flash attention, each sequence in cells of its own.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

const inFolder = temporaryFolder();
/** Another order of additions, and F16 in the KV cache. */
const tolerance = 0.02;
const listed = 4;

const tokens = (length: number, salt: number) =>
  Int32Array.from({ length }, (_, i) => 260 + ((i * 7 + salt * 31 + ((i * salt) % 13)) % 200));
const join = (...parts: Int32Array[]) => Int32Array.from(parts.flatMap((part) => [...part]));

/** The likeliest tokens behind a prompt, and their log-probabilities. */
async function likeliest(model: LanguageModel, prompt: Int32Array): Promise<Map<number, number>> {
  const request = { prompt, maxTokens: 1, sampling: { temperature: 0 }, logprobs: listed };
  const { logprobs } = await model.generate(request).result;
  return new Map(logprobs?.[0]?.top.map(({ token, logprob }) => [token, logprob]));
}

function expectClose(found: Map<number, number>, expected: Map<number, number>, what: string): void {
  expect(expected.size).toBe(listed);
  for (const [token, logprob] of expected) {
    // Of two equally likely tokens, the other one may be the last in the list.
    const close = found.get(token) ?? Math.min(...found.values());
    expect(Math.abs(close - logprob), `${what}: token ${token}`).toBeLessThan(tolerance);
  }
}

// Heads that share keys and values; a head of keys for two; a cap and windows; keys of some layers only.
describe.each(['llama', 'phi3', 'gemma2', 'lfm2'])('attention of llama.cpp in %s', (name) => {
  let model: LanguageModel;
  let twin: LanguageModel;

  beforeAll(async () => {
    const path = inFolder(`${name}.gguf`);
    await writeTinyDecoder(name, path, { context: 1024 });
    const options = { runtime: 'llama.cpp', threads: 1, batchThreads: 1 } as const;
    model = await LanguageModel.load(path, { ...options, kvCells: 4096 });
    twin = await LanguageModel.load(path, { ...options, deterministic: true });
    // Replies at once have alternating cells; longer prompts have rows of them. All stay in the cache.
    const others = Array.from({ length: 6 }, (_, i) =>
      model.generate({ prompt: tokens(40 + 60 * i, 100 + i), maxTokens: 60 }),
    );
    await Promise.all(others.map(({ result }) => result));
    expect((await model.numbers()).cellsUsed).toBeGreaterThan(1000);
  });
  afterAll(async () => {
    await model.close();
    await twin.close();
  });

  test.each([1, 2, 3, 4, 5, 7, 8, 16, 31, 63, 64, 65, 130, 300])(
    'of a prompt of %i tokens',
    async (length) => {
      const prompt = tokens(length, length);
      expectClose(await likeliest(model, prompt), await likeliest(twin, prompt), `${length} tokens`);
    },
  );

  test('of chunks behind a prefix', async () => {
    const prefix = tokens(333, 7);
    await likeliest(model, prefix);
    for (const rows of [1, 2, 3, 4, 6, 9, 20, 64, 70]) {
      const prompt = join(prefix, tokens(rows, rows));
      expectClose(await likeliest(model, prompt), await likeliest(twin, prompt), `${rows} rows`);
    }
  });

  test('of several replies at once', async () => {
    const prompts = [3, 30, 80, 200, 5, 61].map((length, i) => tokens(length, 50 + i));
    const expected = await Promise.all(prompts.map((prompt) => likeliest(twin, prompt)));
    const found = await Promise.all(prompts.map((prompt) => likeliest(model, prompt)));
    for (const [i, each] of found.entries())
      expectClose(each, expected[i] as Map<number, number>, `reply ${i}`);
  });
});
