import { inspect } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { backends, EmbeddingModel } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { randomNumbers, tinyBert, tinyDecoder, writeBertModel } from '../helpers/models.js';

const words = 'the cat sat on mat dog runs fast blue sky tree house red kings queens gold moon water'.split(
  ' ',
);

/** Texts of 1 to `longest` words, the same for the same seed. */
function randomTexts(count: number, longest: number, seed: number): string[] {
  const random = randomNumbers(seed);
  const below = (limit: number) => Math.floor(((random() + 1) / 2) * limit);
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + below(longest) }, () => words[below(words.length)]).join(' '),
  );
}

const row = (vectors: Float32Array, i: number, dimension: number) =>
  vectors.subarray(i * dimension, (i + 1) * dimension);
const dot = (a: Float32Array, b: Float32Array) =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

describe('the facts of a model', () => {
  test('say what the file is', async () => {
    await using model = await EmbeddingModel.load(await tinyBert());
    expect(model.facts).toMatchObject({
      name: 'test bert',
      architecture: 'bert',
      dimension: 64,
      contextSize: 512,
      trainingContext: 512,
      pooling: 'mean',
    });
    expect(model.facts.parameters).toBeGreaterThan(100_000);
    expect(model.facts.sizeBytes).toBeGreaterThan(4 * 100_000);
    expect(model.facts.fingerprint).toMatch(/^[0-9a-f]{16}$/);
  });

  test('fingerprints tell models, weight types and poolings apart, and are the same every time', async () => {
    const print = async (path: string, pooling?: 'mean' | 'cls') => {
      await using model = await EmbeddingModel.load(path, { pooling });
      return model.facts.fingerprint;
    };
    const path = await tinyBert();
    const others = [
      await print(path, 'cls'),
      await print(await tinyBert({ seed: 2 })),
      await print(await tinyBert({ weightType: 'F16' })),
    ];
    const own = await print(path);
    expect(await print(path, 'mean')).toBe(own);
    expect(new Set([own, ...others]).size).toBe(4);
  });

  test('the context is what was asked for, never more than the model was trained for', async () => {
    await using small = await EmbeddingModel.load(await tinyBert(), { contextSize: 20 });
    expect(small.facts.contextSize).toBe(20);
    await using large = await EmbeddingModel.load(await tinyBert(), { contextSize: 4096 });
    expect(large.facts.contextSize).toBe(512);
    await rejection(EmbeddingModel.load(await tinyBert(), { contextSize: 2 }), 'INVALID_ARGUMENT');
  });

  test('backends name what computes', () => {
    expect(backends().map(({ name }) => name)).toContain('CPU');
  });
});

describe.each([
  ['a BERT, F32', () => tinyBert(), 0.9999],
  ['a BERT, F16', () => tinyBert({ weightType: 'F16' }), 0.9999],
  // Rounding activations to 8 bits magnifies differences in the last place.
  ['a BERT, Q8_0', () => tinyBert({ weightType: 'Q8_0' }), 0.999],
  ['a BERT with CLS pooling', () => tinyBert({ pooling: 2 }), 0.9999],
  // 1024: texts that are longer than an ordinary batch.
  ['a BERT for long texts', () => tinyBert({ contextSize: 1024 }), 0.9999],
  ['a decoder with last-token pooling', () => tinyDecoder({ contextSize: 1024 }), 0.9999],
  ['a decoder with mean pooling', () => tinyDecoder({ contextSize: 1024, pooling: 1 }), 0.9999],
  ['a BERT, F32, by llama.cpp', () => tinyBert(), 0.9999, 'llama.cpp'],
  [
    'a BERT, Q8_0, by llama.cpp',
    () => tinyBert({ weightType: 'Q8_0', contextSize: 1024 }),
    0.999,
    'llama.cpp',
  ],
] as [string, () => Promise<string>, number, string?][])('%s', (_, path, least, runtime) => {
  let model: EmbeddingModel;
  beforeAll(async () => {
    model = await EmbeddingModel.load(await path(), { runtime });
    return () => model.close();
  });

  test('gives rows of length 1 in input order', async () => {
    const texts = ['the cat sat on the mat', 'kings', 'the cat sat on a mat', 'red house'];
    const vectors = await model.embed(texts);
    expect(vectors).toHaveLength(texts.length * model.dimension);
    for (let i = 0; i < texts.length; i++) {
      const alone = await model.embed(texts[i] as string);
      expect(dot(alone, alone)).toBeCloseTo(1, 5);
      const cosines = texts.map((_text, j) => dot(alone, row(vectors, j, model.dimension)));
      expect(cosines.indexOf(Math.max(...cosines)), `nearest row of ${texts[i]}`).toBe(i);
    }
  });

  test('gives a text the same vector alone and in any batch', async () => {
    const long = randomTexts(6, model.facts.contextSize / 4, 2);
    const texts = [...randomTexts(150, 20, 1), ...long, 'cat', ...randomTexts(60, 40, 3)];
    const together = await model.embedSettled(texts);
    expect(together.errors).toEqual([]);
    expect(together.batches).toBeLessThan(texts.length / 2);
    const backwards = await model.embed([...texts].reverse());
    let worst = 1;
    for (let i = 0; i < texts.length; i++) {
      const vector = row(together.vectors, i, model.dimension);
      worst = Math.min(worst, dot(vector, row(backwards, texts.length - 1 - i, model.dimension)));
      if (i % 5 === 0) worst = Math.min(worst, dot(vector, await model.embed(texts[i] as string)));
    }
    expect(worst).toBeGreaterThanOrEqual(least);
  });

  test('reads the order of words', async () => {
    const vectors = await model.embed(['cat sat on the dog', 'dog sat on the cat']);
    expect(dot(row(vectors, 0, model.dimension), row(vectors, 1, model.dimension))).toBeLessThan(0.9999);
  });

  test('counts the tokens that it computes', async () => {
    const texts = randomTexts(30, 12, 4);
    let tokens = 0;
    for (const text of texts) tokens += await model.countTokens(text);
    expect((await model.embedSettled(texts)).tokens).toBe(tokens);
  });
});

describe('quantized weights', () => {
  test.each(['F16', 'Q8_0'] as const)('%s agrees with F32', async (weightType) => {
    // The runtime that is measured to be the fastest may round to bf16, which costs more than F16 does.
    const runtime = 'llama.cpp';
    await using plain = await EmbeddingModel.load(await tinyBert(), { runtime });
    await using small = await EmbeddingModel.load(await tinyBert({ weightType }), { runtime });
    const texts = randomTexts(50, 20, 5);
    const [expected, found] = [await plain.embed(texts), await small.embed(texts)];
    for (let i = 0; i < texts.length; i++) {
      expect(dot(row(expected, i, 64), row(found, i, 64))).toBeGreaterThan(
        weightType === 'F16' ? 0.9999 : 0.995,
      );
    }
  });
});

test('embeddings are of length 1 also where the model computes denormal numbers', async () => {
  const last = 'blk.1.layer_output_norm';
  const data = new Float32Array(64).fill(1e-41);
  const path = await writeBertModel('denormal.gguf', {
    layers: 2,
    edit(file) {
      file.replaced.set(`${last}.weight`, { shape: [64], type: 'F32', data });
      file.replaced.set(`${last}.bias`, { shape: [64], type: 'F32', data });
    },
  });
  await using model = await EmbeddingModel.load(path);
  const vector = await model.embed('cat');
  expect(dot(vector, vector)).toBeCloseTo(1, 3);
});

describe('texts that cannot be embedded', () => {
  let model: EmbeddingModel;
  beforeAll(async () => {
    model = await EmbeddingModel.load(await tinyBert(), { contextSize: 32 });
    return () => model.close();
  });
  const long = 'cat '.repeat(100);

  test('an over-long text is an error that names its tokens and the limit, and the others are embedded', async () => {
    const result = await model.embedSettled(['the cat', long, 'a dog']);
    expect(result.errors).toEqual([
      {
        index: 1,
        code: 'TEXT_TOO_LONG',
        tokens: 102,
        limit: 32,
        message: expect.stringMatching(/102 tokens.*32/),
      },
    ]);
    expect([...row(result.vectors, 1, 64)].every((value) => value === 0)).toBe(true);
    for (const i of [0, 2])
      expect(dot(row(result.vectors, i, 64), row(result.vectors, i, 64))).toBeCloseTo(1, 5);
  });

  test('embed() rejects with all of them', async () => {
    const error = await rejection(model.embed(['ok', long, '']), 'TEXT_TOO_LONG');
    expect(error.message).toContain('texts[1]');
    expect(error.detail).toMatchObject({
      index: 1,
      tokens: 102,
      limit: 32,
      items: [{ index: 1 }, { index: 2 }],
    });
  });

  test('an error about many texts is short where Node prints it, and complete for programs', async () => {
    const error = await rejection(model.embed(Array.from({ length: 200 }, () => long)), 'TEXT_TOO_LONG');
    expect(error.message).toContain('and 197 more');
    expect(inspect(error).split('\n').length).toBeLessThan(40);
    expect(JSON.parse(JSON.stringify(error.detail)).items).toHaveLength(200);
  });

  test('a text of exactly the limit fits, one token more does not', async () => {
    await expect(model.embed('cat '.repeat(30))).resolves.toHaveLength(64);
    await rejection(model.embed('cat '.repeat(31)), 'TEXT_TOO_LONG');
  });

  test.each(['', '   ', '\n\t ', '\u0000'])('%j has nothing to embed', async (text) => {
    const { errors } = await model.embedSettled([text]);
    expect(errors).toMatchObject([{ index: 0, code: 'INVALID_ARGUMENT', limit: 32 }]);
  });

  test('a text beyond any measure is refused without being read', async () => {
    const { errors } = await model.embedSettled(['x'.repeat(2 ** 20 + 1)]);
    expect(errors).toMatchObject([{ index: 0, code: 'TEXT_TOO_LONG' }]);
  });

  test('no text gives no vector', async () => {
    await expect(model.embed([])).resolves.toHaveLength(0);
  });
});

describe.each([
  ['WordPiece', () => tinyBert()],
  ['SentencePiece', () => tinyDecoder()],
] as const)('strange text (%s)', (_, path) => {
  test.each([
    ['NUL inside', 'the cat\u0000sat'],
    ['a lone surrogate', 'cat \ud83d dog'],
    ['emoji with joiners', 'cat 👩‍👩‍👧‍👦 dog'],
    ['combining marks without end', `cat a${'\u0301'.repeat(150)}`],
    ['right to left', 'مرحبا بالعالم שלום'],
    ['private use and noncharacters', 'cat \ue000 \ufffe \u{10ffff}'],
    ['what looks like special tokens', '[CLS] [SEP] [MASK] </s> <s> <unk> <|endoftext|> <0x00>'],
    ['an unbroken word', 'x'.repeat(400)],
    ['control characters', 'cat\u0007\u001b[31m\u0085dog'],
  ])('%s is embedded', async (_name, text) => {
    await using model = await EmbeddingModel.load(await path());
    const { vectors, errors } = await model.embedSettled([text, 'cat']);
    expect(errors).toEqual([]);
    expect(dot(row(vectors, 0, 64), row(vectors, 0, 64))).toBeCloseTo(1, 5);
    // The text beside it is not disturbed.
    expect(dot(row(vectors, 1, 64), await model.embed('cat'))).toBeGreaterThan(0.9999);
  });

  test('a lone surrogate reads as U+FFFD', async () => {
    await using model = await EmbeddingModel.load(await path());
    const vectors = await model.embed(['cat \ud83d dog', 'cat \ufffd dog']);
    expect(dot(row(vectors, 0, 64), row(vectors, 1, 64))).toBeGreaterThan(0.9999);
  });
});

describe('calls', () => {
  test('may overlap', async () => {
    await using model = await EmbeddingModel.load(await tinyBert());
    const texts = randomTexts(40, 30, 6);
    const expected = await model.embed(texts);
    const all = await Promise.all(Array.from({ length: 12 }, (_, i) => model.embed(texts.slice(i, i + 20))));
    all.forEach((vectors, i) => {
      for (let t = 0; t < 20; t++) {
        expect(dot(row(vectors, t, 64), row(expected, i + t, 64))).toBeGreaterThan(0.9999);
      }
    });
  });

  test.each([1, 3])('work with %i threads', async (threads) => {
    await using model = await EmbeddingModel.load(await tinyBert(), { threads });
    await using other = await EmbeddingModel.load(await tinyBert());
    const texts = randomTexts(100, 30, 7);
    const [a, b] = await Promise.all([model.embed(texts), other.embed(texts)]);
    for (let i = 0; i < texts.length; i++) expect(dot(row(a, i, 64), row(b, i, 64))).toBeGreaterThan(0.9999);
  });

  test('report progress that never falls and ends at 1', async () => {
    await using model = await EmbeddingModel.load(await tinyBert());
    const seen: number[] = [];
    await model.embed(randomTexts(500, 30, 8), { onProgress: (fraction) => seen.push(fraction) });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(1);
  });

  test('can be aborted, and the model still works', async () => {
    await using model = await EmbeddingModel.load(
      await tinyBert({ dimension: 256, layers: 6, feedForward: 512 }),
    );
    const controller = new AbortController();
    const pending = model.embed(randomTexts(5000, 60, 9), {
      signal: controller.signal,
      onProgress: () => controller.abort(new Error('enough')),
    });
    const error = await rejection(pending, 'CANCELLED');
    expect(error.name).toBe('AbortError');
    expect(error.cause).toEqual(new Error('enough'));
    await expect(model.embed('cat')).resolves.toHaveLength(256);
  });

  test('refuse what is no text', async () => {
    await using model = await EmbeddingModel.load(await tinyBert());
    await rejection(model.embed(['cat', 7 as unknown as string]), 'INVALID_ARGUMENT');
    await rejection(model.countTokens(undefined as unknown as string), 'INVALID_ARGUMENT');
    const { detail } = await rejection(model.countTokens('a'.repeat(2 ** 20 + 1)), 'TEXT_TOO_LONG');
    expect(detail).toMatchObject({ tokens: 0, limit: model.facts.contextSize, bytes: 2 ** 20 + 1 });
  });
});
