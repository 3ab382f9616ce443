/** Prompt lookup changes how many steps a reply takes, and nothing else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GenerateRequest, type GenerationResult, LanguageModel, scheduler } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

const folder = temporaryFolder();
const contextSize = 512;
const one = { threads: 1, batchThreads: 1, contextSize } as const;

/** Random models repeat themselves soon, so that prompt lookup finds much. */
const lore = 'the keeper lights the lamp at dusk. the keeper climbs the stairs. the lamp burns until dawn.';
const prompts = [lore, 'a b a b a b', `${lore} ${lore}`, 'the end'];

const greedy: Partial<GenerateRequest> = { sampling: { temperature: 0 } };
const requests: [string, Partial<GenerateRequest>][] = [
  ['greedy', greedy],
  ['sampled', { sampling: { temperature: 0.9 } }],
  ['with penalties', { sampling: { temperature: 0.5, repeatPenalty: 1.3, presencePenalty: 0.4 } }],
  ['with a stop text', { ...greedy, stop: ['e'] }],
  ['with a grammar', { ...greedy, grammar: 'root ::= ("the keeper" | "lamp" | " ")*' }],
  [
    'with a schema',
    { schema: { type: 'array', items: { enum: ['keeper', 'lamp'] }, minItems: 6, maxItems: 9 } },
  ],
  ['with quotations', { ...greedy, quotes: { texts: [lore] } }],
];

const told = ({ text, finish, tokens, logprobs }: GenerationResult) => ({
  text,
  finish,
  tokens: [...tokens],
  logprobs,
});

describe('a reply with drafts', () => {
  let model: LanguageModel;
  beforeAll(async () => {
    await writeTinyDecoder('llama', folder('llama.gguf'), { context: contextSize });
    model = await LanguageModel.load(folder('llama.gguf'), { ...one, runtime: 'decoder' });
  });
  afterAll(() => model.close());

  const reply = async (prompt: string, request: Partial<GenerateRequest>, drafts: boolean, seed: number) =>
    model.generate({ prompt, maxTokens: 120, seed, logprobs: 2, ...request, drafts }).result;

  it.each(requests)('is the same as without, bit for bit: %s', async (_, request) => {
    for (const [seed, prompt] of prompts.entries()) {
      const plain = await reply(prompt, request, false, seed);
      expect(plain.drafts).toEqual({ drafted: 0, accepted: 0 });
      // Again and again: the length of drafts follows the time that steps took.
      for (let round = 0; round < 3; round++)
        expect(told(await reply(prompt, request, true, seed))).toEqual(told(plain));
    }
  });

  it('takes a step less for each accepted token', async () => {
    // A fresh model tries the first draft, whatever it will turn out to cost.
    const fresh = await LanguageModel.load(folder('llama.gguf'), { ...one, runtime: 'decoder' });
    const before = scheduler.stats();
    const request = { prompt: `${lore} ${lore} ${lore}`, maxTokens: 120, ...greedy };
    const { drafts, usage, timing } = await fresh.generate(request).result;
    expect(drafts.drafted).toBeGreaterThan(0);
    expect(drafts.accepted).toBeLessThanOrEqual(drafts.drafted);
    // A reply ends before its last step is counted; the next request comes after that.
    await fresh.generate({ prompt: 'x', maxTokens: 1 }).result;
    await fresh.close();
    const after = scheduler.stats();
    const decoded = after.interactiveVisible.decodeTokens - before.interactiveVisible.decodeTokens;
    expect(decoded).toBe(usage.completion - 1);
    // The step of that request may be counted already.
    const steps = after.steps - before.steps - timing.prefillChunks;
    expect([0, 1]).toContain(steps - (decoded - drafts.accepted));
  });

  it('leaves the cache as without, for prompts that continue it', async () => {
    const first = await reply(lore, greedy, true, 1);
    const longer = `${lore}${first.text} and then`;
    const continued = await reply(longer, greedy, true, 1);
    expect(continued.usage.cached).toBeGreaterThan(0);
    const fresh = await LanguageModel.load(folder('llama.gguf'), { ...one, runtime: 'decoder' });
    const expected = await fresh.generate({
      prompt: longer,
      maxTokens: 120,
      seed: 1,
      logprobs: 2,
      ...greedy,
      drafts: false,
    }).result;
    expect(told(continued)).toEqual(told(expected));
    await fresh.close();
  });

  it('is the same beside others', async () => {
    const expected = [];
    for (const seed of [1, 2, 3])
      expected.push(told(await reply(lore, { sampling: { temperature: 1 } }, false, seed)));
    const both = await Promise.all(
      [1, 2, 3].map((seed) => reply(lore, { sampling: { temperature: 1 } }, true, seed)),
    );
    expect(both.map(told)).toEqual(expected);
  });

  it('is cancelled in the middle of a draft, and the next reply is as ever', async () => {
    const expected = told(await reply(lore, greedy, false, 1));
    for (let pieces = 0; pieces < 20; pieces++) {
      let left = pieces;
      for await (const _ of model.generate({ prompt: lore, maxTokens: 120, seed: 1, ...greedy }))
        if (left-- === 0) break;
    }
    expect(told(await reply(lore, greedy, true, 1))).toEqual(expected);
  });

  it('is an option of yes or no', async () => {
    expect(() => model.generate({ prompt: 'a', drafts: 'yes' as unknown as boolean })).toThrow(/drafts/);
  });
});

describe('llama.cpp', () => {
  it('takes drafts up to rounding: each token is as likely as the likeliest one', async () => {
    await writeTinyDecoder('qwen2', folder('qwen2.gguf'), { context: contextSize });
    const model = await LanguageModel.load(folder('qwen2.gguf'), { ...one, runtime: 'llama.cpp' });
    const prompt = Int32Array.from({ length: 60 }, (_, i) => 262 + (i % 12));
    const { tokens, drafts } = await model.generate({ prompt, maxTokens: 60, ...greedy }).result;
    expect(drafts.drafted).toBeGreaterThan(0);
    for (const [at, token] of tokens.entries()) {
      const soFar = Int32Array.from([...prompt, ...tokens.slice(0, at)]);
      const request = { prompt: soFar, maxTokens: 1, logprobs: 3, drafts: false, ...greedy };
      const [likeliest] = (await model.generate(request).result).logprobs ?? [];
      const found = likeliest?.top.find((one) => one.token === token)?.logprob ?? Number.NEGATIVE_INFINITY;
      expect(found).toBeGreaterThan((likeliest?.logprob ?? 0) - 0.05);
    }
    await model.close();
  });

  it('has none with deterministic, nor with a recurrent model', async () => {
    await writeTinyDecoder('mamba', folder('mamba.gguf'), { context: contextSize });
    for (const [name, options] of [
      ['llama', { deterministic: true, runtime: 'llama.cpp' }],
      ['mamba', {}],
    ] as const) {
      const model = await LanguageModel.load(folder(`${name}.gguf`), { ...one, ...options });
      const { drafts } = await model.generate({ prompt: `${lore} ${lore}`, maxTokens: 60, ...greedy }).result;
      expect(drafts).toEqual({ drafted: 0, accepted: 0 });
      await model.close();
    }
  });
});
