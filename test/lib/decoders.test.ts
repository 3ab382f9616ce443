/**
 * Language models of every kind of attention and memory against recordings of llama.cpp's own server, computed by each
 * runtime that can: tools/golden/record-decoders.mjs makes them. The models have random weights and are made here.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyDecoders, writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

interface Reply {
  prompt: number[];
  tokens: number[];
  /** Of the first tokens: the likeliest ones and their log-probabilities. */
  logprobs: [token: number, logprob: number][][];
}

const { models } = JSON.parse(readFileSync(join(import.meta.dirname, 'decoders.golden.json'), 'utf8')) as {
  models: Record<string, Reply[]>;
};

const inFolder = temporaryFolder();
const threads = { threads: 1, batchThreads: 1 };
/** Another order of additions, and F16 in the KV cache. */
const tolerance = 0.02;

/** Models that lorekeep's own runtime computes. */
const own = [
  'llama',
  'llama-factors',
  'llama-linear',
  'qwen2',
  'qwen2-tied',
  'qwen3',
  'gemma',
  'gemma2',
  'gemma3',
];
/** Why it does not compute others, where the architecture is not the reason. */
const obstacles: Record<string, string> = { 'llama-yarn': 'its positions are scaled' };

type Runtime = 'llama.cpp' | 'decoder';

async function load(name: string, runtime: Runtime): Promise<LanguageModel> {
  const path = inFolder(`${name}.gguf`);
  await writeTinyDecoder(name, path);
  return LanguageModel.load(path, { ...threads, runtime });
}

const request = ({ prompt, tokens }: Reply) => ({
  prompt: Int32Array.from(prompt),
  maxTokens: tokens.length,
  sampling: { temperature: 0 },
});

test('every kind of model is recorded', () => {
  expect(Object.keys(models)).toEqual([...tinyDecoders]);
  for (const replies of Object.values(models))
    expect(replies.reduce((sum, { tokens }) => sum + tokens.length, 0)).toBeGreaterThan(30);
});

test('the own runtime refuses what it cannot compute, with the reason', async () => {
  for (const name of tinyDecoders.filter((name) => !own.includes(name)))
    await expect(load(name, 'decoder')).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining(obstacles[name] ?? `its architecture is '${name}'`),
    });
});

test('what the own runtime cannot compute, llama.cpp computes', async () => {
  for (const name of tinyDecoders) {
    const path = inFolder(`${name}.gguf`);
    await writeTinyDecoder(name, path);
    const model = await LanguageModel.load(path, threads);
    if (!own.includes(name)) expect(model.facts.runtime, name).toBe('llama.cpp');
    await model.close();
  }
});

const cases = Object.entries(models).flatMap(([name, recorded]) => {
  const runtimes: Runtime[] = own.includes(name) ? ['llama.cpp', 'decoder'] : ['llama.cpp'];
  return runtimes.map((runtime) => [name, runtime, recorded] as const);
});

describe.each(cases)('%s, computed by %s', (name, runtime, recorded) => {
  const replies = recorded.filter(({ tokens }) => tokens.length > 0);

  test('writes the tokens of llama.cpp, alone and all at once, and again from the cache', async () => {
    const model = await load(name, runtime);
    expect(model.facts.runtime).toBe(runtime);
    const expected = replies.map(({ tokens }) => tokens);
    const alone: number[][] = [];
    for (const reply of replies) alone.push([...(await model.generate(request(reply)).result).tokens]);
    expect(alone).toEqual(expected);
    const together = await Promise.all(replies.map((reply) => model.generate(request(reply)).result));
    expect(together.map(({ tokens }) => [...tokens])).toEqual(expected);
    await model.close();
  });

  test('has the log-probabilities of llama.cpp', async () => {
    const model = await load(name, runtime);
    for (const reply of replies) {
      const { logprobs } = await model.generate({ ...request(reply), logprobs: 4 }).result;
      for (const [at, likeliest] of reply.logprobs.entries()) {
        const found = new Map(logprobs?.[at]?.top.map(({ token, logprob }) => [token, logprob]));
        for (const [token, logprob] of likeliest) {
          // Of two equally likely tokens, the other one may be the last in the list.
          const close = found.get(token) ?? Math.min(...found.values());
          expect(Math.abs(close - logprob), `token ${at}: ${token}`).toBeLessThan(tolerance);
        }
      }
    }
    await model.close();
  });
});
