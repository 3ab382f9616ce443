import { describe, expect, test } from 'vitest';
import { type GenerateRequest, LanguageModel } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { writeDecoderModel, writeMambaModel, writeSlidingWindowModel } from '../helpers/models.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

const inFolder = temporaryFolder();

/** Layers of attention between layers of short convolutions. */
async function writeHybridModel(name: string, { contextSize: context = 512 }): Promise<string> {
  await writeTinyDecoder('lfm2', inFolder(name), { context });
  return inFolder(name);
}

const threads = { threads: 1, batchThreads: 1 };
const tokens = (length: number, salt: number) =>
  Int32Array.from({ length }, (_, i) => 3 + ((i * 7 + salt * 31 + ((i * salt) % 13)) % 256));
const join = (...parts: Int32Array[]) => Int32Array.from(parts.flatMap((part) => [...part]));
const reply = { maxTokens: 40, sampling: { temperature: 0 }, logitBias: { 2: Number.NEGATIVE_INFINITY } };

/** The tokens of replies, each by a model of its own. */
async function alone(path: string, requests: readonly GenerateRequest[]): Promise<Int32Array[]> {
  const found = [];
  for (const request of requests) {
    const model = await LanguageModel.load(path, threads);
    found.push((await model.generate(request).result).tokens);
    await model.close();
  }
  return found;
}

describe.each([
  ['attention', writeDecoderModel, { pooling: null }],
  ['a sliding window', writeSlidingWindowModel, {}],
  ['a recurrent state', writeMambaModel, {}],
  ['attention and recurrent states', writeHybridModel, {}],
])('a model with %s', (kind, write, options) => {
  const path = write(`kind-${kind.replaceAll(' ', '-')}.gguf`, { ...options, contextSize: 1024 });

  test('gives many requests the replies that each gets alone', async () => {
    const requests = [1, 2, 3, 4, 5, 6].map((salt) => ({ ...reply, prompt: tokens(60 + salt, salt) }));
    const expected = await alone(await path, requests);
    const model = await LanguageModel.load(await path, { ...threads, kvCells: 2048 });
    const results = await Promise.all(requests.map((request) => model.generate(request).result));
    expect(results.map((result) => result.tokens)).toEqual(expected);
    await model.close();
  });

  test('continues a conversation from the cache with the reply that it has without', async () => {
    const model = await LanguageModel.load(await path, threads);
    const first = tokens(90, 3);
    const { tokens: said } = await model.generate({ ...reply, prompt: first }).result;
    const prompt = join(first, said, tokens(20, 4));
    const { usage, tokens: found } = await model.generate({ ...reply, prompt }).result;
    expect(usage.cached).toBe(first.length + said.length - 1);
    expect([found]).toEqual(await alone(await path, [{ ...reply, prompt }]));
    await model.close();
  });

  test('shares a pinned prefix, and is unharmed by requests that are cancelled', async () => {
    const shared = tokens(200, 5);
    const requests = [6, 7, 8].map((salt) => ({ ...reply, prompt: join(shared, tokens(10, salt)) }));
    const expected = await alone(await path, requests);
    const model = await LanguageModel.load(await path, { ...threads, kvCells: 2048 });
    const prefix = await model.prefix(shared);
    const victims = [9, 10, 11].map((salt) =>
      model.generate({ ...reply, maxTokens: 300, prompt: join(shared, tokens(150, salt)) }),
    );
    const results = requests.map((request) => model.generate(request).result);
    for (const victim of victims) victim.cancel();
    for (const [index, { tokens: found, usage }] of (await Promise.all(results)).entries()) {
      expect(found).toEqual(expected[index]);
      expect(usage.cached).toBeGreaterThanOrEqual(200);
    }
    // A tiny model may have finished a reply before its cancel arrived.
    for (const { result } of victims) expect(['cancelled', 'length']).toContain((await result).finish);
    await prefix.close();
    await model.close();
  });
});
