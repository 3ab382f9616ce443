import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type GenerateRequest, LanguageModel } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyDecoder, writeMambaModel, writeSlidingWindowModel } from '../helpers/models.js';
import { continuesAfterParking } from './parking.js';

const folder = temporaryFolder();
const greedy = { temperature: 0 };
const threads = { threads: 1, batchThreads: 1 };
/** Tokens of bytes, which every request has different ones of. */
const tokens = (length: number, salt: number) =>
  Int32Array.from({ length }, (_, i) => 3 + ((i * 7 + salt * 31 + ((i * salt) % 13)) % 256));
const join = (...parts: Int32Array[]) => Int32Array.from(parts.flatMap((part) => [...part]));
/** A reply of one token, which takes no cell. */
const short = (prompt: Int32Array): GenerateRequest => ({ prompt, maxTokens: 1, sampling: greedy });

let path: string;
beforeAll(async () => {
  path = await tinyDecoder({ pooling: null });
});

describe('sharing', () => {
  const persona = tokens(300, 1);
  let model: LanguageModel;
  beforeAll(async () => {
    model = await LanguageModel.load(path, { ...threads, kvCells: 8192 });
  });
  afterAll(() => model.close());

  test('cells grow only by what each agent adds to a common prefix', async () => {
    const own = 20;
    const agents = 200;
    for (let agent = 0; agent < agents; agent++) {
      const prompt = join(persona, Int32Array.of(3 + agent), tokens(own - 1, agent));
      const { usage } = await model.generate(short(prompt)).result;
      if (agent > 0) expect(usage.cached).toBeGreaterThanOrEqual(persona.length);
    }
    const { cellsUsed, keptPrefixes } = await model.numbers();
    expect(cellsUsed).toBeLessThanOrEqual(persona.length + agents * own);
    expect(keptPrefixes).toBe(agents);
  });

  test('prompts that arrive together compute a common prefix once', async () => {
    const common = tokens(400, 77);
    const before = await model.numbers();
    const prompts = Array.from({ length: 24 }, (_, i) => join(common, Int32Array.of(3 + i, 5)));
    const results = await Promise.all(prompts.map((prompt) => model.generate(short(prompt)).result));
    const after = await model.numbers();
    const computed = after.promptTokens - before.promptTokens - (after.cachedTokens - before.cachedTokens);
    expect(computed).toBeLessThanOrEqual(common.length + 24 * 2);
    expect(results.filter(({ usage }) => usage.cached >= common.length)).toHaveLength(23);
  });

  test('a turn that repeats history computes only what is new', async () => {
    const first = tokens(100, 5);
    const reply = await model.generate({ prompt: first, maxTokens: 30, sampling: greedy }).result;
    const next = join(first, reply.tokens, tokens(10, 6));
    const { usage } = await model.generate(short(next)).result;
    // The last token of a reply is never computed.
    expect(usage.prompt - usage.cached).toBeLessThanOrEqual(10 + 1);
  });

  test('gives the same reply as without sharing', async () => {
    const fresh = await LanguageModel.load(path, threads);
    const request = { prompt: join(persona, tokens(40, 9)), maxTokens: 20, sampling: greedy };
    const [shared, alone] = [await model.generate(request).result, await fresh.generate(request).result];
    expect(shared.usage.cached).toBeGreaterThanOrEqual(300);
    expect(alone.usage.cached).toBe(0);
    expect(shared.text).toBe(alone.text);
    await fresh.close();
  });
});

describe('the tree of prefixes', () => {
  test('has the tokens of each part once, and the sequences that end with it', async () => {
    const model = await LanguageModel.load(path, { ...threads, kvCells: 8192 });
    expect(await model.prefixes()).toEqual([]);
    const persona = tokens(64, 1);
    const pinned = await model.prefix(persona);
    for (const own of [5, 6]) await model.generate(short(join(persona, Int32Array.of(own, 7)))).result;
    const parts = await model.prefixes();
    const shape = parts.map(({ idleMs, ...counts }) => counts);
    const leaf = { depth: 1, tokens: 2, running: 0, kept: 1, pinned: 0 };
    expect(shape).toEqual([{ depth: 0, tokens: 64, running: 0, kept: 1, pinned: 1 }, leaf, leaf]);
    for (const { idleMs } of parts) expect(idleMs).toBeGreaterThanOrEqual(0);
    const { cellsUsed } = await model.numbers();
    expect(parts.reduce((sum, part) => sum + part.tokens, 0)).toBe(cellsUsed);
    await pinned.close();
    expect((await model.prefixes())[0]).toMatchObject({ kept: 1, pinned: 0 });
    await model.close();
  });

  test('has the requests under way', async () => {
    const model = await LanguageModel.load(path, { ...threads, kvCells: 8192 });
    const running = model.generate({
      prompt: tokens(64, 1),
      maxTokens: 400,
      logitBias: { 2: Number.NEGATIVE_INFINITY },
    });
    for await (const _ of running) break;
    const [part] = await model.prefixes();
    expect(part?.tokens).toBeGreaterThanOrEqual(64);
    expect((part?.running ?? 0) + (part?.kept ?? 0)).toBe(1);
    await running.result;
    await model.close();
  });
});

describe('forget', () => {
  test('removes what spells a text, and nothing else', async () => {
    const model = await LanguageModel.load(path, { ...threads, kvCells: 8192 });
    const keep = await model.generate({ prompt: 'Bees dance in the hive.', maxTokens: 1, sampling: greedy })
      .result;
    const request = { prompt: 'Say: the OWL  hides\nthe key. Go!', maxTokens: 1, sampling: greedy };
    await model.generate(request).result;
    expect((await model.numbers()).keptPrefixes).toBe(2);
    expect(await model.forget(['the owl hides the ferry'])).toBe(0);
    expect(await model.forget(['The owl hides the key.', 'tea'])).toBe(1);
    expect((await model.numbers()).keptPrefixes).toBe(1);
    const { usage } = await model.generate(request).result;
    expect(usage.cached).toBeLessThan(keep.usage.prompt);
    expect(await model.forget(['  '])).toBe(0);
    await expect(model.forget('bees' as never)).rejects.toThrow('texts: an array of strings is expected');
    await model.close();
  });

  test('of a request under way has it not kept at its end; a pinned prefix stays', async () => {
    const model = await LanguageModel.load(path, { ...threads, kvCells: 8192 });
    const pinned = await model.prefix('The owl hides the key.');
    const running = model.generate({
      prompt: 'An eel swims by night.',
      maxTokens: 400,
      logitBias: { 2: Number.NEGATIVE_INFINITY },
    });
    for await (const _ of running) break;
    expect(await model.forget(['eel swims', 'owl hides'])).toBe(1);
    await running.result;
    const parts = await model.prefixes();
    expect(parts.map(({ kept, pinned: of }) => [kept, of])).toEqual([[1, 1]]);
    await pinned.close();
    expect(await model.forget(['owl hides'])).toBe(1);
    await model.close();
  });
});

describe('a full cache', () => {
  test('makes requests wait, and evicts what nobody uses', async () => {
    const model = await LanguageModel.load(path, { ...threads, contextSize: 256, kvCells: 600 });
    const requests = Array.from({ length: 40 }, (_, i) => ({ prompt: tokens(120, i), maxTokens: 60 }));
    const results = await Promise.all(requests.map((request) => model.generate(request).result));
    for (const { finish } of results) expect(['length', 'stop']).toContain(finish);
    const { cellsUsed, cellsReserved, cells } = await model.numbers();
    expect(cellsUsed).toBeLessThanOrEqual(cells);
    expect(cellsReserved).toBe(0);
    await model.close();
  });

  test('refuses a request that can never fit beside pinned prefixes, with both numbers', async () => {
    const model = await LanguageModel.load(path, { ...threads, contextSize: 512, kvCells: 512 });
    const pinned = await model.prefix(tokens(300, 1));
    const request = { prompt: tokens(200, 2), maxTokens: 100 };
    const error = await rejection(model.generate(request).result, 'OUT_OF_MEMORY');
    expect(error.detail).toMatchObject({ cells: 300, free: 212 });
    await pinned.close();
    expect((await model.generate(request).result).usage.prompt).toBe(200);
    await model.close();
  });

  test('parks a worse class for a better one, which continues bit for bit', async () => {
    const model = await LanguageModel.load(path, { ...threads, contextSize: 256, deterministic: true });
    await continuesAfterParking(model, (salt) => ({
      prompt: tokens(70, salt),
      maxTokens: 100,
      seed: salt,
      logitBias: { 2: Number.NEGATIVE_INFINITY },
    }));
    await model.close();
  });
});

describe('a pinned prefix', () => {
  const prompt = tokens(200, 3);

  test('survives a cache that fills up, until it is closed', async () => {
    const model = await LanguageModel.load(path, { ...threads, contextSize: 400, kvCells: 450 });
    const prefix = await model.prefix(prompt);
    expect(prefix.tokens).toEqual(prompt);
    const fill = async () => {
      for (let salt = 10; salt < 14; salt++) await model.generate(short(tokens(200, salt))).result;
    };
    const cached = async () => (await model.generate(short(join(prompt, tokens(10, 4)))).result).usage.cached;
    await fill();
    expect(await cached()).toBe(200);
    await prefix.close();
    await fill();
    expect(await cached()).toBeLessThan(200);
    await model.close();
  });

  test('may be named by a request, which fails if it is closed or of another model', async () => {
    const model = await LanguageModel.load(path, threads);
    const other = await LanguageModel.load(path, threads);
    const prefix = await model.prefix(prompt);
    const request = { ...short(join(prompt, tokens(10, 4))), prefix };
    expect((await model.generate(request).result).usage.cached).toBe(200);
    await rejection(other.generate(request).result, 'INVALID_ARGUMENT');
    await prefix.close();
    await rejection(model.generate(request).result, 'CLOSED');
    await model.close();
    await other.close();
  });

  test('is saved and loaded, and nothing is computed again', async () => {
    const file = folder('persona.prefix');
    const request = { prompt: join(prompt, tokens(10, 4)), maxTokens: 20, sampling: greedy };
    const model = await LanguageModel.load(path, threads);
    const prefix = await model.prefix(prompt);
    await prefix.save(file);
    const expected = await model.generate(request).result;
    await model.close();
    await rejection(prefix.save(file), 'CLOSED');

    const other = await LanguageModel.load(path, threads);
    const loaded = await other.loadPrefix(file);
    expect(loaded.tokens).toEqual(prompt);
    const result = await other.generate(request).result;
    expect(result.usage.cached).toBe(200);
    expect(result.text).toBe(expected.text);
    expect((await other.numbers()).cellsUsed).toBeLessThanOrEqual(230);
    await other.close();
  });

  test('is saved with llama.cpp, too, when it shares cells with a request before it', async () => {
    const file = folder('shared.prefix');
    const options = { ...threads, runtime: 'llama.cpp' as const };
    const model = await LanguageModel.load(path, options);
    await model.generate(short(join(prompt, tokens(10, 4)))).result;
    await (await model.prefix(prompt)).save(file);
    const other = await LanguageModel.load(path, options);
    await other.generate(short(tokens(50, 6))).result;
    await other.loadPrefix(file);
    expect((await other.generate(short(join(prompt, tokens(10, 5)))).result).usage.cached).toBe(200);
    for (const one of [model, other]) await one.close();
  });

  const memories: [string, (name: string) => Promise<string>, boolean][] = [
    ['cells that sequences share', () => tinyDecoder({ pooling: null }), false],
    ['cells of each sequence', () => tinyDecoder({ pooling: null }), true],
    ['two caches, one of them for a sliding window', writeSlidingWindowModel, false],
    ['a recurrent state', writeMambaModel, false],
  ];
  test.each(memories)(
    'is saved and loaded with llama.cpp from a memory of %s',
    async (memory, write, deterministic) => {
      const file = folder(`${memory}.prefix`);
      const options = { ...threads, runtime: 'llama.cpp' as const, contextSize: 256, deterministic };
      const model = await LanguageModel.load(await write(`${memory}.gguf`), options);
      const start = tokens(64, 3);
      await model.generate(short(join(start, tokens(10, 4)))).result;
      const prefix = await model.prefix(start);
      await prefix.save(file);
      await prefix.close();
      const loaded = await model.loadPrefix(file);
      expect(loaded.tokens).toEqual(start);
      expect((await model.generate(short(join(start, tokens(10, 5)))).result).usage.cached).toBe(64);
      await model.close();
    },
  );

  test('of another model, of other options, or damaged is refused', async () => {
    const file = folder('other.prefix');
    const model = await LanguageModel.load(path, threads);
    const prefix = await model.prefix(prompt);
    await prefix.save(file);
    const another = await LanguageModel.load(await tinyDecoder({ pooling: null, seed: 2 }), threads);
    expect((await rejection(another.loadPrefix(file), 'UNSUPPORTED')).message).toMatch(/another model/);
    const deterministic = await LanguageModel.load(path, {
      ...threads,
      deterministic: true,
      runtime: 'llama.cpp',
    });
    await rejection(deterministic.loadPrefix(file), 'UNSUPPORTED');
    const bytes = readFileSync(file);
    for (const at of [0, 20, 60, 200, bytes.length >> 1, bytes.length - 1]) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] as number) ^ 0x40;
      writeFileSync(file, damaged);
      const error = await model.loadPrefix(file).catch((reason) => reason);
      expect(['CORRUPT', 'UNSUPPORTED']).toContain(error.code);
    }
    writeFileSync(file, bytes.subarray(0, bytes.length - 1));
    await rejection(model.loadPrefix(file), 'CORRUPT');
    await rejection(model.loadPrefix(folder('absent')), 'NOT_FOUND');
    await rejection(prefix.save(path), 'INVALID_ARGUMENT');
    for (const one of [another, deterministic, model]) await one.close();
  });

  test('may be cancelled', async () => {
    const model = await LanguageModel.load(path, threads);
    await rejection(model.prefix(prompt, { signal: AbortSignal.abort() }), 'CANCELLED');
    const controller = new AbortController();
    const prefix = model.prefix(prompt, { signal: controller.signal });
    controller.abort();
    // On a busy machine the prefix may be there before the abort.
    const outcome = await prefix.catch((error) => error.code);
    if (outcome !== 'CANCELLED') await outcome.close();
    // An abort may come before the prompt is tokenized, while it is computed, or after.
    const many = Array.from({ length: 40 }, () => {
      const aborter = new AbortController();
      const one = model.prefix(prompt, { signal: aborter.signal }).catch((error) => error.code);
      aborter.abort();
      return one;
    });
    for (const one of await Promise.all(many)) {
      if (one !== 'CANCELLED') await one.close();
    }
    expect((await model.prefix(prompt)).tokens).toHaveLength(200);
    await model.close();
  });
});

describe('deterministic', () => {
  test('a request has the same reply beside others, after others and alone', async () => {
    const model = await LanguageModel.load(path, { ...threads, contextSize: 400, deterministic: true });
    const shared = tokens(130, 1);
    const request = (salt: number): GenerateRequest => ({
      prompt: join(shared, tokens(20 + salt, salt)),
      maxTokens: 40,
      seed: salt,
      logprobs: 0,
    });
    const salts = Array.from({ length: 12 }, (_, i) => i);
    const alone = [];
    for (const salt of salts) {
      const fresh = await LanguageModel.load(path, { ...threads, contextSize: 400, deterministic: true });
      alone.push((await fresh.generate(request(salt)).result).logprobs);
      await fresh.close();
    }
    for (let round = 0; round < 2; round++) {
      const results = await Promise.all(salts.map((salt) => model.generate(request(salt)).result));
      for (const salt of salts) expect(results[salt]?.logprobs).toEqual(alone[salt]);
      expect(results.some(({ usage }) => usage.cached > 0)).toBe(true);
    }
    await model.close();
  });
});
