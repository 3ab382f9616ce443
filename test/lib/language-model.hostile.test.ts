import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { runChild } from '../helpers/children.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { randomNumbers } from '../helpers/models.js';
import { testSeed as seed } from '../helpers/random.js';
import { haveModels, realModel, stories } from '../helpers/real-models.js';
import { repetitions } from '../helpers/repetitions.js';
import { tinyDecoders, writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

const inFolder = temporaryFolder();
const copies = repetitions('COPIES', 30, 150);
const cancels = repetitions('CANCELS', 60, 500);

const greedy = { temperature: 0 };
const sentence = { prompt: 'Once upon a time there was a cat', maxTokens: 12, sampling: greedy };

/** Loads mutated copies of a file in a process of its own, and returns how many ended how. */
async function mutations(path: string, count: number): Promise<Record<string, number>> {
  const script = '../../lib/children/mutated-language-models.mjs';
  const { code, signal, output, messages } = await runChild(script, [
    path,
    inFolder('.'),
    `${seed}`,
    `${count}`,
  ]);
  const last = messages.at(-1) as { outcomes?: Record<string, number> } | undefined;
  expect([code, signal], `after ${JSON.stringify(last)}: ${output}`).toEqual([0, null]);
  const { outcomes = {} } = last ?? {};
  expect(Object.values(outcomes).reduce((sum, one) => sum + one, 0)).toBe(count);
  expect(outcomes.INTERNAL).toBeUndefined();
  return outcomes;
}

describe('a truncated or mutated language model is refused or generates, and never ends the process', () => {
  it.skipIf(!haveModels(stories))('stories260K', async () => {
    const { MODEL_INVALID } = await mutations(realModel(stories), copies);
    expect(MODEL_INVALID).toBeGreaterThan(copies / 3);
  });

  it.each(tinyDecoders)('%s', async (name) => {
    const path = inFolder(`${name}.gguf`);
    await writeTinyDecoder(name, path);
    const { MODEL_INVALID, loaded } = await mutations(path, Math.ceil(copies / 3));
    expect(MODEL_INVALID).toBeGreaterThan(0);
    expect(loaded).toBeGreaterThan(0);
  });
});

it('a reply that no token can continue as its schema wants fails, and does not end as if it were whole', async () => {
  const path = inFolder('lacking.gguf');
  await writeTinyDecoder('llama', path);
  const model = await LanguageModel.load(path, { threads: 1, batchThreads: 1 });
  // Byte tokens begin at 3; no other token of this vocabulary has a brace.
  const lacking = { [3 + '}'.charCodeAt(0)]: Number.NEGATIVE_INFINITY };
  const request = { prompt: 'a', maxTokens: 60, sampling: greedy, seed: 1 };
  const schema = { type: 'object', additionalProperties: false };
  const { message } = await rejection(
    model.generate({ ...request, schema, logitBias: lacking }).result,
    'INVALID_ARGUMENT',
  );
  expect(message).toContain('no token continues');
  expect(JSON.parse((await model.generate({ ...request, schema }).result).text)).toEqual({});
  await model.close();
});

it('a conversation of five thousand turns is rendered', async () => {
  const path = inFolder('turns.gguf');
  const template = '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}';
  await writeTinyDecoder('llama', path, { template });
  const model = await LanguageModel.load(path, { threads: 1, batchThreads: 1 });
  const roles = ['user', 'assistant'] as const;
  const messages = Array.from({ length: 10_001 }, (_, i) => ({
    role: roles[i % 2] as 'user',
    content: `${i}`,
  }));
  const { messageTokens, parts } = await model.render(messages);
  expect(messageTokens).toHaveLength(messages.length);
  expect(parts.filter(({ input }) => input).map(({ text }) => text)).toEqual(
    messages.map(({ content }) => content),
  );
  await model.close();
});

describe.skipIf(!haveModels(stories))('a language model', () => {
  let model: LanguageModel;
  let undisturbed: string;
  beforeAll(async () => {
    // Deterministic, so that what runs beside a request cannot change its text.
    const options = { threads: 1, batchThreads: 1, contextSize: 512, deterministic: true };
    model = await LanguageModel.load(realModel(stories), options);
    undisturbed = (await model.generate(sentence).result).text;
  });
  afterAll(() => model.close());

  it('refuses a prompt of ten million characters with both numbers, and goes on', async () => {
    const other = model.generate(sentence);
    const prompt = 'All work and no play makes Jack a dull boy. '.repeat(230_000);
    const error = await rejection(model.generate({ prompt, maxTokens: 5 }).result, 'TEXT_TOO_LONG');
    expect(error.detail).toMatchObject({ bytes: prompt.length, limit: 512 });
    expect((await other.result).text).toBe(undisturbed);
  });

  it('survives cancels at random moments, and others read the same text', async () => {
    const random = randomNumbers(seed);
    const below = (limit: number) => Math.floor(((random() + 1) / 2) * limit) % limit;
    const finishes = new Map<string, number>();
    let others = Promise.resolve();
    for (let i = 0; i < cancels; i++) {
      const prompt = Int32Array.from({ length: 1 + below(400) }, () => 3 + below(500));
      const generation = model.generate({ prompt, maxTokens: 100, sampling: greedy });
      // Before it is submitted, while it is queued, in its prompt, or after some tokens of its reply.
      const when = below(3);
      let pieces = below(4);
      if (when === 1) await new Promise((resolve) => setImmediate(resolve));
      if (when === 2) for await (const _ of generation) if (pieces-- === 0) break;
      generation.cancel();
      if (i % 50 === 0) others = checkOther(others);
      const { finish } = await generation.result;
      finishes.set(finish, (finishes.get(finish) ?? 0) + 1);
    }
    await others;
    expect(finishes.get('cancelled')).toBeGreaterThan(cancels / 2);
    expect((await model.generate(sentence).result).text).toBe(undisturbed);
    // A request leaves the cache a moment after its reply has ended.
    const left = { running: 0, queued: 0, cellsReserved: 0 };
    await vi.waitFor(async () => expect(await model.numbers()).toMatchObject(left), 10_000);
  });

  /** After `before`, generates beside the cancelled requests. */
  async function checkOther(before: Promise<void>): Promise<void> {
    await before;
    expect((await model.generate(sentence).result).text).toBe(undisturbed);
  }

  it('closed during a decode, ends its requests', async () => {
    const options = { threads: 1, batchThreads: 1, contextSize: 512 };
    const closing = await LanguageModel.load(realModel(stories), options);
    const running = [1, 2, 3].map(() => closing.generate({ prompt: 'Once', maxTokens: 400 }));
    const [first] = running;
    for await (const _ of first as (typeof running)[number]) break;
    const ends = running.map(({ result }) =>
      result.then(
        ({ finish }) => finish,
        (error: { code: string }) => error.code,
      ),
    );
    await closing.close();
    for (const end of await Promise.all(ends))
      expect(['cancelled', 'CLOSED', 'length', 'stop']).toContain(end);
    await rejection(
      Promise.resolve().then(() => closing.generate(sentence).result),
      'CLOSED',
    );
  });
});
