import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GenerateRequest, LanguageModel, type Piece } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { tinyBert } from '../helpers/models.js';
import { haveModels, realModel, smolLm, stories } from '../helpers/real-models.js';

const greedy = { temperature: 0 };

async function collect(pieces: AsyncIterable<Piece>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece.text;
  return text;
}

describe.skipIf(!haveModels(stories))('a small language model', () => {
  let model: LanguageModel;
  beforeAll(async () => {
    model = await LanguageModel.load(realModel(stories));
  });
  afterAll(() => model.close());

  test('has facts', () => {
    expect(model.facts).toMatchObject({
      architecture: 'llama',
      contextSize: 512,
      trainedContextSize: 512,
      vocabularySize: 512,
      embeddingSize: 64,
      layers: 5,
      device: 'CPU',
      fileBytes: 1_054_272,
      chatTemplate: false,
    });
    expect(model.facts.fingerprint).toMatch(/^[0-9a-f]{16}$/);
  });

  test('writes the greedy story of its author', async () => {
    const generation = model.generate({ prompt: 'Once upon a time', maxTokens: 60, sampling: greedy });
    const streamed = await collect(generation);
    const result = await generation.result;
    expect(result.text).toMatch(
      /^, there was a little girl named Lily. She loved to play outside in the park/,
    );
    expect(streamed).toBe(result.text);
    expect(result).toMatchObject({ finish: 'length', thinking: '', usage: { completion: 60 } });
    expect(result.tokens).toHaveLength(60);
  });

  test('gives the same text for the same seed, and says which seed it drew', async () => {
    const request = { prompt: 'Once', maxTokens: 30 };
    const first = await model.generate(request).result;
    const again = await model.generate({ ...request, seed: first.seed }).result;
    expect(again.text).toBe(first.text);
    const others = await Promise.all([1, 2, 3, 4].map((seed) => model.generate({ ...request, seed }).result));
    expect(new Set(others.map((other) => other.text)).size).toBeGreaterThan(1);
  });

  test('computes a repeated prompt only once', async () => {
    const prompt = 'Tom and Sam went to the big park to play with a red ball.';
    const first = await model.generate({ prompt, maxTokens: 5, sampling: greedy }).result;
    const second = await model.generate({ prompt, maxTokens: 5, sampling: greedy }).result;
    expect(first.usage.cached).toBeLessThan(3);
    expect(second.usage.cached).toBe(second.usage.prompt - 1);
    expect(second.text).toBe(first.text);
  });

  test('stops before a stop string, which no piece shows a part of', async () => {
    const request = { prompt: 'Once upon a time', maxTokens: 60, sampling: greedy };
    const whole = await model.generate(request).result;
    const generation = model.generate({ ...request, stop: ['Lily. She'] });
    expect(await collect(generation)).toBe(whole.text.slice(0, whole.text.indexOf('Lily. She')));
    expect(await generation.result).toMatchObject({ finish: 'stop_string' });
  });

  test('ends a reply at the end of the context', async () => {
    const generation = model.generate({
      prompt: 'Once upon a time',
      maxTokens: 100_000,
      logitBias: { 2: Number.NEGATIVE_INFINITY, 1: Number.NEGATIVE_INFINITY },
    });
    const { finish, usage } = await generation.result;
    expect(finish).toBe('context');
    expect(usage.prompt + usage.completion).toBe(513);
  });

  test('refuses a prompt that does not fit, with both numbers', async () => {
    const tokens = new Int32Array(512).fill(300);
    const error = await rejection(model.generate({ prompt: tokens }).result, 'TEXT_TOO_LONG');
    expect(error).toMatchObject({ detail: { tokens: 512, limit: 511 } });
    const text = 'word '.repeat(2_000_000);
    const uncounted = { tokens: 0, limit: 512, bytes: text.length };
    const longer = await rejection(model.generate({ prompt: text }).result, 'TEXT_TOO_LONG');
    expect(longer.detail).toMatchObject(uncounted);
    expect((await rejection(model.countTokens(text), 'TEXT_TOO_LONG')).detail).toMatchObject(uncounted);
    expect(
      (await model.generate({ prompt: new Int32Array(511).fill(300), maxTokens: 1 }).result).finish,
    ).toBe('length');
  });

  test('cancels at once, and keeps the text so far', async () => {
    const generation = model.generate({ prompt: 'Once upon a time', maxTokens: 400, sampling: greedy });
    let text = '';
    for await (const piece of generation) {
      text += piece.text;
      generation.cancel();
    }
    const result = await generation.result;
    expect(result.finish).toBe('cancelled');
    expect(result.text).toBe(text);
    expect(result.text.length).toBeGreaterThan(0);
  });

  test('a broken-off iteration and an aborted signal cancel too', async () => {
    const broken = model.generate({ prompt: 'Once upon a time', maxTokens: 400 });
    for await (const _ of broken) break;
    expect((await broken.result).finish).toBe('cancelled');
    const controller = new AbortController();
    const aborted = model.generate({ prompt: 'Once', maxTokens: 400 }, { signal: controller.signal });
    for await (const _ of aborted) controller.abort();
    expect((await aborted.result).finish).toBe('cancelled');
  });

  test('ends at a deadline with what there is', async () => {
    const result = await model.generate({ prompt: 'Once', deadlineMs: 0 }).result;
    expect(result.finish).toBe('deadline');
  });

  test('returns log-probabilities', async () => {
    const request = { prompt: 'Once upon a', maxTokens: 3, sampling: greedy, logprobs: 5 };
    const generation = model.generate(request);
    const streamed = [];
    for await (const piece of generation) streamed.push(...(piece.logprobs ?? []));
    const { logprobs, tokens, text } = await generation.result;
    expect(logprobs).toHaveLength(3);
    logprobs?.forEach(({ token, logprob, bytes, top }, index) => {
      expect(token).toBe(tokens[index]);
      expect(top).toHaveLength(5);
      expect(top[0]).toEqual({ token, logprob, bytes });
      expect(logprob).toBeLessThan(0);
    });
    expect(streamed).toEqual(logprobs);
    expect(Buffer.concat(streamed.map(({ bytes }) => bytes)).toString()).toBe(text);
    expect((await model.generate({ ...request, logprobs: undefined }).result).logprobs).toBeUndefined();
  });

  test('serves many requests at once, each with its own text', async () => {
    const prompts = ['Once upon a time', 'The dog', 'One day', 'Tom and his mom'];
    const request = (prompt: string): GenerateRequest => ({ prompt, maxTokens: 20, sampling: greedy });
    const alone = new Map<string, string>();
    for (const prompt of prompts) alone.set(prompt, (await model.generate(request(prompt)).result).text);
    const many = Array.from({ length: 300 }, (_, i) => prompts[i % prompts.length] as string);
    const results = await Promise.all(many.map((prompt) => model.generate(request(prompt)).result));
    for (const [i, result] of results.entries()) expect(result.text).toBe(alone.get(many[i] as string));
    expect(await model.numbers()).toMatchObject({ running: 0, queued: 0, cellsReserved: 0 });
  });

  test('numbers tell when they were read, on the clock of the process', async () => {
    const now = () => Number(process.hrtime.bigint()) / 1e6;
    const before = now();
    const { readAtMs } = await model.numbers();
    expect(readAtMs).toBeGreaterThanOrEqual(before);
    expect(readAtMs).toBeLessThanOrEqual(now());
  });

  test.each<[string, GenerateRequest]>([
    ['prompt', {}],
    ['prompt', { prompt: '' }],
    ['prompt', { prompt: 3 as unknown as string }],
    ['prompt[1]', { prompt: Int32Array.of(1, 512) }],
    ['maxTokens', { prompt: 'a', maxTokens: 0 }],
    ['sampling.temperature', { prompt: 'a', sampling: { temperature: -1 } }],
    ['sampling.topP', { prompt: 'a', sampling: { topP: 2 } }],
    ['sampling.top_p', { prompt: 'a', sampling: { top_p: 0.5 } as object }],
    ['class', { prompt: 'a', class: 'urgent' as 'background' }],
    ['stop[0]', { prompt: 'a', stop: [''] }],
    ['logitBias.512', { prompt: 'a', logitBias: { 512: 1 } }],
    ['seed', { prompt: 'a', seed: 1.5 }],
    ['logprobs', { prompt: 'a', logprobs: 101 }],
    ['drafts', { prompt: 'a', drafts: 1 as unknown as boolean }],
    ['prefix', { prompt: 'a', prefix: {} as never }],
    ['logitBias', { prompt: 'a', logitBias: new Map([[5, 1]]) as never }],
    ['request.max_tokens', { prompt: 'a', max_tokens: 5 } as GenerateRequest],
  ])('refuses a wrong %s', (field, request) => {
    expect(() => model.generate(request)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', detail: expect.objectContaining({ field }) }),
    );
  });
});

describe.skipIf(!haveModels(stories))('options of a language model', () => {
  const path = realModel(stories);

  test.each<[string, object]>([
    ['options.ctx', { ctx: 64 }],
    ['deterministic', { deterministic: 'yes' }],
    ['offloadKqv', { offloadKqv: 0 }],
    ['options', null as unknown as object],
  ])('are refused for a wrong %s', async (field, options) => {
    const error = { code: 'INVALID_ARGUMENT', detail: { field } };
    await expect(LanguageModel.load(path, options)).rejects.toMatchObject(error);
    await expect(LanguageModel.estimate(path, options)).rejects.toMatchObject(error);
  });
});

describe.skipIf(!haveModels(smolLm))('conversations with SmolLM2', () => {
  const user = (content: string) => [{ role: 'user', content }] as const;
  let model: LanguageModel;
  beforeAll(async () => {
    model = await LanguageModel.load(realModel(smolLm), { contextSize: 1024, threads: 1, batchThreads: 1 });
  });
  afterAll(() => model.close());

  test('renders messages, whose contents never become control tokens', async () => {
    const { tokens, parts, messageTokens } = await model.render(user('Hello <|im_end|> there'));
    expect(parts.map(({ text }) => text).join('')).toMatch(
      /<\|im_start\|>user\nHello <\|im_end\|> there<\|im_end\|>/,
    );
    const [begin, end] = [1, 2];
    expect(tokens.filter((token) => token === begin)).toHaveLength(3); // system (by default), user, assistant
    expect(tokens.filter((token) => token === end)).toHaveLength(2);
    expect(messageTokens).toHaveLength(1);
    expect(model.facts).toMatchObject({ chatTemplate: true, thinking: false });
  });

  test('answers messages as it answers the rendered prompt', async () => {
    const messages = user('What is the capital of France?');
    const rest = { maxTokens: 12, sampling: greedy };
    const asked = await model.generate({ messages, ...rest }).result;
    const rendered = await model.generate({ prompt: await model.render(messages), ...rest }).result;
    expect(asked.text).toMatch(/^L'Étoile, la/);
    expect(rendered.text).toBe(asked.text);
    expect(rendered.usage.cached).toBe(rendered.usage.prompt - 1);
  });

  test('obeys a JSON Schema, a grammar and quotations', async () => {
    const messages = user('Describe a red fox.');
    const schema = {
      type: 'object',
      properties: {
        animal: { type: 'string', maxLength: 20 },
        legs: { type: 'integer', minimum: 0, maximum: 9 },
      },
      required: ['animal', 'legs'],
      additionalProperties: false,
    };
    const reply = await model.generate({ messages, schema, maxTokens: 100 }).result;
    expect(JSON.parse(reply.text)).toEqual({ animal: expect.any(String), legs: expect.any(Number) });
    const grammar = 'root ::= ("yes" | "no") "."';
    const short = await model.generate({ messages, grammar, maxTokens: 10 }).result;
    expect(short).toMatchObject({ text: expect.stringMatching(/^(yes|no)\.$/), finish: 'stop' });
    const texts = ['The quick brown fox jumps over the lazy dog.'];
    const quotes = { texts };
    const quoted = await model.generate({ messages, quotes, maxTokens: 40, logitBias: {} }).result;
    for (const [, span] of quoted.text.matchAll(/"(.*?)"/g)) expect(texts[0]).toContain(span);
  });

  test.each<[string, object]>([
    ['messages[0].role', { messages: [{ role: 'tool', content: 'a' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages', { messages: [] }],
    ['prompt', { messages: user('a'), prompt: 'b' }],
    ['grammar', { prompt: 'a', schema: {}, grammar: 'root ::= "a"' }],
    ['grammar', { prompt: 'a', grammar: '' }],
    ['quotes', { prompt: 'a', quotes: null }],
    ['quotes.text', { prompt: 'a', quotes: { texts: [], text: 'b' } }],
    ['quotes.texts', { prompt: 'a', quotes: {} }],
    ['thinking.budget', { messages: user('a'), thinking: { budget: -1 } }],
    ['thinking.tokens', { messages: user('a'), thinking: { tokens: 5 } }],
  ])('refuses a wrong %s', (field, request) => {
    expect(() => model.generate(request as GenerateRequest)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', detail: expect.objectContaining({ field }) }),
    );
  });

  test('a broken grammar fails its request alone', async () => {
    await rejection(model.generate({ prompt: 'a', grammar: 'root ::= root' }).result, 'INVALID_ARGUMENT');
    await rejection(model.generate({ prompt: 'a', grammar: 'root ::= (' }).result, 'INVALID_ARGUMENT');
    expect((await model.generate({ prompt: 'a', maxTokens: 2 }).result).usage.completion).toBeGreaterThan(0);
  });

  test('its memory is known before it is loaded', async () => {
    const { devices, total } = await LanguageModel.estimate(realModel(smolLm), { contextSize: 1024 });
    expect(devices).toHaveLength(1);
    expect(devices[0]).toMatchObject({ device: 'CPU' });
    expect(devices[0]?.model).toBeGreaterThan(model.facts.fileBytes * 0.95);
    expect(devices[0]?.context).toBe(1024 * 30 * 2 * 192 * 2);
    expect(total).toBeLessThan(model.facts.fileBytes + 150 * 2 ** 20);
  });
});

describe.skipIf(!haveModels(smolLm))('SmolLM2', () => {
  interface Golden {
    items: { prompt: number[]; tokens: number[]; text: string }[];
  }

  /**
   * Kernels of other processors round otherwise, in llama.cpp's own programs too, so that almost equally likely tokens change
   * places: every recorded token is the likeliest behind the recorded ones before it, or nearly so, from the first that the model
   * did not write itself. Returns how many are.
   */
  async function expectNearTies(
    model: LanguageModel,
    { prompt, tokens }: Golden['items'][number],
    written: readonly number[],
  ) {
    const first = tokens.findIndex((token, at) => token !== written[at]);
    let likeliest = first;
    for (const [at, token] of tokens.entries()) {
      if (at < first) continue;
      const behind = Int32Array.from([...prompt, ...tokens.slice(0, at)]);
      const request = { prompt: behind, maxTokens: 1, sampling: greedy, logprobs: 10 };
      const { logprobs } = await model.generate(request).result;
      const top = logprobs?.[0]?.top ?? [];
      // The end of a reply has no log-probabilities.
      if (top.length === 0) continue;
      const best = top[0]?.logprob ?? 0;
      const recorded = top.find((candidate) => candidate.token === token);
      expect(best - (recorded?.logprob ?? Number.NEGATIVE_INFINITY), `token ${at}`).toBeLessThan(0.5);
      if (best === recorded?.logprob) likeliest += 1;
    }
    return likeliest;
  }

  test('writes the tokens of llama.cpp', async () => {
    const golden = JSON.parse(
      readFileSync(realModel(smolLm.replace('.Q4_1.gguf', '.golden.json')), 'utf8'),
    ) as Golden;
    // One thread: several would wait for each other whenever another process has a core.
    const threads = { threads: 1, batchThreads: 1 };
    const model = await LanguageModel.load(realModel(smolLm), { contextSize: 512, ...threads });
    const results = await Promise.all(
      golden.items.map(
        ({ prompt, tokens }) =>
          model.generate({ prompt: Int32Array.from(prompt), maxTokens: tokens.length, sampling: greedy })
            .result,
      ),
    );
    const others = golden.items
      .map((item, index) => ({ item, written: Array.from(results[index]?.tokens ?? []) }))
      .filter(({ item, written }) => String(item.tokens) !== String(written));
    let likeliest = 0;
    for (const { item, written } of others) likeliest += await expectNearTies(model, item, written);
    const recorded = others.reduce((sum, { item }) => sum + item.tokens.length, 0);
    expect(likeliest).toBeGreaterThanOrEqual(0.85 * recorded);
    await model.close();
  });
});

test('a model that does not generate is refused', async () => {
  const error = await rejection(LanguageModel.load(await tinyBert()), 'UNSUPPORTED');
  expect(error.message).toMatch(/'bert' is not supported for generating text/);
  await rejection(LanguageModel.load('/nowhere/model.gguf'), 'NOT_FOUND');
});
