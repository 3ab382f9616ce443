/** The architectures behind the catalog's models, each as a tiny file with random weights. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EmbeddingModel, type LorekeepError, type Pooling } from '../../lib/index.js';
import { embedQuery } from '../../src/knowledge/model.js';
import { type CatalogEntry, catalogSchema } from '../../src/models/schema.js';
import { rejection } from '../helpers/errors.js';
import { readGguf } from '../helpers/gguf-reader.js';
import { randomNumbers, type TestGguf, tinyBert, tinyDecoder, writeBertModel } from '../helpers/models.js';
import { BertReference } from './bert-reference.js';

const texts = ['the cat sat', 'gold and old songs in towers', 'a dog runs fast under the blue sky', 'water'];
const width = 64;

const catalog = catalogSchema.parse(
  JSON.parse(readFileSync(new URL('../../data/models.json', import.meta.url), 'utf8')),
);
function entry(name: string): CatalogEntry {
  const found = catalog.models.find((model) => model.name === name);
  if (!found) throw new Error(`${name} is not in the catalog`);
  return found;
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((sum, value, i) => sum + value * (b[i] as number), 0);

/** A model as the server would hold it under a catalog entry: its prefixes and its pooling. */
async function loaded(path: string, name: string) {
  const { pooling, query_prefix: queryPrefix, document_prefix: documentPrefix } = entry(name);
  return { model: await EmbeddingModel.load(path, { pooling }), queryPrefix, documentPrefix };
}

type Loaded = Awaited<ReturnType<typeof loaded>>;

const query = async (model: Loaded, text: string) => (await embedQuery(model, text, undefined)).vectors;
const document = (model: Loaded, text: string) => model.model.embed(model.documentPrefix + text);

/** The layout of nomic-embed-text: rotary positions, a gated feed-forward. */
const nomicBert = (file: TestGguf): void => {
  const next = randomNumbers(11);
  const numbers = (count: number) => Float32Array.from({ length: count }, () => next() * 0.2);
  file.set('general.architecture', { type: 'string', value: 'nomic-bert' });
  const sizes = {
    context_length: 512,
    embedding_length: width,
    feed_forward_length: 128,
    block_count: 3,
    'attention.head_count': 4,
    pooling_type: 1,
  };
  for (const [key, value] of Object.entries(sizes)) file.set(`nomic-bert.${key}`, { type: 'u32', value });
  file.set('nomic-bert.attention.layer_norm_epsilon', { type: 'f32', value: 1e-12 });
  file.set('nomic-bert.attention.causal', { type: 'bool', value: false });
  file.set('nomic-bert.rope.freq_base', { type: 'f32', value: 1000 });
  file.omitted.add('position_embd.weight');
  for (let layer = 0; layer < 3; layer++) {
    file.omitted.add(`blk.${layer}.ffn_up.bias`);
    file.omitted.add(`blk.${layer}.ffn_down.bias`);
    file.tensor(`blk.${layer}.ffn_gate.weight`, [width, 128], 'F32', numbers(width * 128));
  }
};

/** The tokenizer of multilingual-e5: SentencePiece unigrams between <s> and </s>. */
const unigramTokenizer = (file: TestGguf): void => {
  const words =
    'the cat sat gold and old songs in towers a dog runs fast under blue sky water query: passage:';
  const tokens = [
    '<s>',
    '<pad>',
    '</s>',
    '<unk>',
    '\u2581',
    ...words.split(' ').map((word) => `\u2581${word}`),
  ];
  const next = randomNumbers(12);
  const data = Float32Array.from({ length: tokens.length * width }, () => next());
  file.replaced.set('token_embd.weight', { shape: [width, tokens.length], type: 'F32', data });
  file.set('tokenizer.ggml.model', { type: 'string', value: 't5' });
  file.set('tokenizer.ggml.tokens', { type: 'string[]', value: tokens });
  file.set('tokenizer.ggml.scores', { type: 'f32[]', value: tokens.map((_, i) => -i / 10) });
  file.set('tokenizer.ggml.token_type', { type: 'i32[]', value: tokens.map((_, i) => [3, 3, 3, 2][i] ?? 1) });
  const ids = { bos: 0, padding: 1, eos: 2, seperator: 2, unknown: 3, mask: 1 };
  for (const [key, value] of Object.entries(ids))
    file.set(`tokenizer.ggml.${key}_token_id`, { type: 'u32', value });
  file.set('tokenizer.ggml.add_bos_token', { type: 'bool', value: true });
  file.set('tokenizer.ggml.add_eos_token', { type: 'bool', value: true });
  file.set('tokenizer.ggml.add_space_prefix', { type: 'bool', value: true });
};

/** A model on one runtime; undefined where the processor does not have it. */
async function loadedOn(
  runtime: string,
  path: string,
  pooling: Pooling,
): Promise<EmbeddingModel | undefined> {
  try {
    return await EmbeddingModel.load(path, { pooling, runtime });
  } catch (error) {
    if ((error as LorekeepError).code !== 'INVALID_ARGUMENT') throw error;
    expect(runtime, (error as Error).message).not.toBe('llama.cpp');
    return undefined;
  }
}

/** The least cosine to the exact vector: bf16 keeps 8 bits of every weight and every input of a matrix. */
const runtimes = {
  'llama.cpp': 0.9999,
  avx2: 0.9999,
  avx512: 0.9999,
  'avx512-bf16': 0.999,
  'amx-bf16': 0.999,
};

describe.each(Object.entries(runtimes))(
  'BERT (all-MiniLM-L6-v2, bge-small-en-v1.5) on %s',
  (runtime, least) => {
    test.for<Pooling>(['mean', 'cls'])(
      '%s pooling equals a second computation',
      async (pooling, { skip }) => {
        const path = await tinyBert();
        const reference = new BertReference(readGguf(path));
        await using model = await loadedOn(runtime, path, pooling);
        if (model === undefined) return skip('this processor does not have it');
        expect(model.facts).toMatchObject({ runtime, measured: expect.any(Boolean) });
        const rows = await model.embed(texts);
        for (const [i, text] of texts.entries()) {
          expect(await model.countTokens(text), text).toBe(reference.tokens(text).length);
          const own = rows.subarray(i * width, (i + 1) * width);
          expect(dot(own, own), text).toBeCloseTo(1, 5);
          expect(dot(own, reference.embed(text, pooling as 'mean' | 'cls')), text).toBeGreaterThan(least);
        }
      },
    );
  },
);

describe('BERT', () => {
  test('the poolings are not the same', async () => {
    const reference = new BertReference(readGguf(await tinyBert()));
    const text = texts[1] as string;
    expect(dot(reference.embed(text, 'mean'), reference.embed(text, 'cls'))).toBeLessThan(0.99);
  });

  test.for(['F16', 'Q8_0'] as const)(
    '%s weights mean the same on every runtime',
    async (weightType, { skip }) => {
      const path = await tinyBert({ weightType, contextSize: 1024 });
      await using llama = await EmbeddingModel.load(path, { runtime: 'llama.cpp' });
      const long = Array.from({ length: 300 }, (_, i) => texts[i % texts.length]).join(' ');
      let compared = 0;
      for (const runtime of [undefined, ...Object.keys(runtimes), 'avx512-vnni']) {
        await using model =
          runtime === undefined ? await EmbeddingModel.load(path) : await loadedOn(runtime, path, 'mean');
        if (model === undefined || model.facts.runtime === 'llama.cpp') continue;
        compared++;
        for (const text of [...texts, long.slice(0, 400), long.slice(0, 2000)]) {
          const cosine = dot(await model.embed(text), await llama.embed(text));
          expect(cosine, `${model.facts.runtime}: ${text.slice(0, 50)}`).toBeGreaterThan(0.999);
        }
      }
      if (compared === 0) skip('this processor has no other');
    },
  );

  test('8 bits are for files of 8 bits', async () => {
    const path = await tinyBert({ weightType: 'F16' });
    expect(await loadedOn('avx512-vnni', path, 'mean')).toBeUndefined();
  });

  test('heads of an unusual size, and layouts with more than the original, are computed by llama.cpp', async () => {
    await using narrow = await EmbeddingModel.load(await tinyBert({ heads: 8 }));
    expect(narrow.facts.runtime).toBe('llama.cpp');
    const edit = (file: TestGguf) =>
      file.tensor('blk.0.attn_q_norm.weight', [width], 'F32', new Float32Array(width).fill(1));
    const path = await writeBertModel('bert-with-more.gguf', { edit });
    expect(await loadedOn('avx512', path, 'mean')).toBeUndefined();
  });

  test('a runtime that there is not is refused by its name', async () => {
    const error = await rejection(
      EmbeddingModel.load(await tinyBert(), { runtime: 'abacus' }),
      'INVALID_ARGUMENT',
    );
    expect(error.message).toContain('abacus');
  });
});

const files: [string, () => Promise<string>][] = [
  ['all-MiniLM-L6-v2', () => tinyBert()],
  ['bge-small-en-v1.5', () => tinyBert({ pooling: 2 })],
  ['nomic-embed-text-v1.5', () => writeBertModel('nomic-bert.gguf', { edit: nomicBert })],
  ['multilingual-e5-small', () => writeBertModel('unigram-bert.gguf', { edit: unigramTokenizer })],
  ['Qwen3-Embedding-0.6B', () => tinyDecoder()],
];

describe.each(files)("the catalog's settings of %s", (name, write) => {
  test('put its prefixes before queries and documents, exactly as written', async () => {
    const path = await write();
    const { query_prefix: asked, document_prefix: kept, pooling } = entry(name);
    await using plain = await EmbeddingModel.load(path, { pooling });
    const model = await loaded(path, name);
    const text = texts[2] as string;
    expect(dot(await query(model, text), await plain.embed(asked + text))).toBeGreaterThan(0.9999);
    expect(dot(await document(model, text), await plain.embed(kept + text))).toBeGreaterThan(0.9999);
    if (asked !== kept) {
      expect(dot(await query(model, text), await document(model, text))).toBeLessThan(0.9999);
    }
    await model.model.close();
  });

  test('give rows of length 1 that depend on the words and on their order', async () => {
    const model = await loaded(await write(), name);
    const [own, turned] = await Promise.all([
      document(model, 'the cat sat under the blue sky'),
      document(model, 'sky blue the under sat cat the'),
    ]);
    expect(dot(own, own)).toBeCloseTo(1, 5);
    expect(dot(own, turned)).toBeLessThan(0.9999);
    await model.model.close();
  });
});

test.each([
  ['lorekeep-mini', 512, 512, 'mean', 'Apache-2.0'],
  ['all-MiniLM-L6-v2', 384, 512, 'mean', 'Apache-2.0'],
  ['bge-small-en-v1.5', 384, 512, 'cls', 'MIT'],
  ['nomic-embed-text-v1.5', 768, 2048, 'mean', 'Apache-2.0'],
  ['multilingual-e5-small', 384, 512, 'mean', 'MIT'],
  ['Qwen3-Embedding-0.6B', 1024, 8192, 'last', 'Apache-2.0'],
])('the catalog states the facts of %s', (name, dimension, context_size, pooling, license) => {
  expect(entry(name)).toMatchObject({ dimension, pooling, license });
  expect(entry(name)?.variants.map((variant) => variant.context_size)).toContain(context_size);
});

test('the catalog gives its default embedding model first, then the fast one with fusion weights of its own', () => {
  const [first, second] = catalog.models;
  expect(first).toMatchObject({ name: 'all-MiniLM-L6-v2', model_type: 'embedding' });
  expect(second).toMatchObject({ name: 'lorekeep-mini', model_type: 'embedding' });
  expect(second?.fusion?.dense).toBeGreaterThan(0);
});
