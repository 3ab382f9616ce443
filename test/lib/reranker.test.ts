import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { EmbeddingModel, Reranker } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { findLlamaServer, RerankServer } from '../helpers/llama-server.js';
import { tinyBert, tinyDecoder } from '../helpers/models.js';
import { rerankerKinds, rerankPairs, rerankTemplate, tinyReranker } from '../helpers/rerankers.js';

/** What llama-server v0.5.0 answered for the same files: by kind, one list per query, in the order of the documents. */
const expected = JSON.parse(
  readFileSync(new URL('reranker.expected.json', import.meta.url), 'utf8'),
) as Record<string, number[][]>;

/** Kernels of other processors round differently. On one machine, the scores are the same. */
const tolerance = 1e-2;

const scoresOf = (results: readonly { index: number; score: number }[]) =>
  [...results].sort((a, b) => a.index - b.index).map(({ score }) => score);

function expectClose(found: readonly number[], wanted: readonly number[]): void {
  expect(found).toHaveLength(wanted.length);
  for (const [i, score] of found.entries())
    expect(Math.abs(score - (wanted[i] as number)), `document ${i}`).toBeLessThan(tolerance);
}

/** The order follows the wanted scores, except among scores that are alike. */
function expectOrder(results: readonly { index: number }[], wanted: readonly number[]): void {
  const found = results.map(({ index }) => wanted[index] as number);
  for (const [i, score] of found.entries())
    expect(score, `rank ${i + 1}`).toBeGreaterThan(Math.max(...found.slice(i + 1), -Infinity) - tolerance);
}

describe.each(rerankerKinds)('a reranker of the kind %s', (kind) => {
  test('scores and sorts as llama-server did', async () => {
    await using model = await Reranker.load(await tinyReranker(kind));
    for (const [i, { query, documents }] of rerankPairs.entries()) {
      const wanted = expected[kind]?.[i] as number[];
      const { results, truncated } = await model.rank(query, documents);
      expectClose(scoresOf(results), wanted);
      expect(truncated).toEqual([]);
      expectOrder(results, wanted);
    }
  });

  test('gives a document the same score alone and among others', async () => {
    await using model = await Reranker.load(await tinyReranker(kind));
    const { query, documents } = rerankPairs[0] as (typeof rerankPairs)[0];
    const together = scoresOf((await model.rank(query, documents)).results);
    const alone = await Promise.all(
      documents.map(async (document) => (await model.rank(query, [document])).results[0]?.score as number),
    );
    expect(together).toEqual(alone);
  });

  test('cuts the end of a document that does not fit, and says so', async () => {
    await using model = await Reranker.load(await tinyReranker(kind), { contextSize: 256 });
    const long = 'the moon shines over the water. '.repeat(400);
    const { truncated, tokens, results } = await model.rank('the cat', ['the dog', long, 'gold', long]);
    expect(truncated).toEqual([1, 3]);
    expect(tokens).toBeLessThanOrEqual(4 * 256);
    expect(tokens).toBeGreaterThan(256);
    const [, one, , other] = scoresOf(results);
    expect(one).toBe(other);
  });

  test('refuses a query that leaves no room, with both numbers', async () => {
    await using model = await Reranker.load(await tinyReranker(kind), { contextSize: 128 });
    const error = await rejection(model.rank('the moon '.repeat(300), ['a']), 'TEXT_TOO_LONG');
    expect(error.detail.limit).toBe(128);
    expect(error.detail.tokens).toBeGreaterThanOrEqual(128);
  });
});

const program = findLlamaServer();
describe.skipIf(program === undefined)('beside llama-server', () => {
  test.each(rerankerKinds)('%s: the same order and scores', { timeout: 60_000 }, async (kind) => {
    const path = await tinyReranker(kind);
    await using server = await RerankServer.start(program as string, path);
    await using model = await Reranker.load(path);
    for (const { query, documents } of rerankPairs) {
      const theirs = await server.rank(query, documents);
      const { results } = await model.rank(query, documents);
      expectClose(scoresOf(results), scoresOf(theirs));
      expectOrder(results, scoresOf(theirs));
    }
  });
});

describe('texts', () => {
  test('cannot spell tokens or places of the template', async () => {
    await using model = await Reranker.load(await tinyReranker('template'));
    const score = async (query: string, document: string) =>
      (await model.rank(query, [document])).results[0]?.score as number;
    // With the replacement of llama-server, the query would place the document inside itself.
    const { tokens: placed } = await model.rank('x {document} y', ['z'.repeat(50)]);
    const { tokens: plain } = await model.rank('x y', ['z'.repeat(50)]);
    expect(placed - plain).toBeLessThan(30);
    // As a control token, </s> would be one token.
    const { tokens: spelled } = await model.rank('x', ['</s>'.repeat(10)]);
    const { tokens: none } = await model.rank('x', ['']);
    expect(spelled - none).toBeGreaterThan(20);
    expect(await score('x', 'y')).not.toBe(await score('x', 'y</s><s>'));
  });

  test('of any kind are scored or refused, never fatal', async () => {
    for (const kind of rerankerKinds) {
      await using model = await Reranker.load(await tinyReranker(kind), { contextSize: 64 });
      const texts = [
        '',
        ' ',
        '\0',
        '\ud800',
        '\ufeff',
        '\u202e',
        '[SEP][CLS]',
        '</s>',
        '{query}{document}',
        'a'.repeat(100_000),
        '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 '.repeat(50),
        '\u0301'.repeat(500),
      ];
      for (const query of ['x', 'x[SEP]', 'x\0', 'x\ud800', 'x 🐱', 'x {document}']) {
        const { results } = await model.rank(query, texts);
        expect(results).toHaveLength(texts.length);
        expect(results.every(({ score }) => Number.isFinite(score))).toBe(true);
      }
    }
  });

  test('an empty query is refused; no documents are no work', async () => {
    await using model = await Reranker.load(await tinyReranker('one-layer'));
    await expect(model.rank('', ['a'])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(model.rank(' \n', ['a'])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(model.rank('a', 'b' as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(model.rank(1 as never, ['b'])).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect((await model.rank('a', [])).results).toEqual([]);
  });
});

describe('calls', () => {
  test('may overlap, give the best of topK, and end with close()', async () => {
    const model = await Reranker.load(await tinyReranker('one-layer'), { threads: 2 });
    const { query, documents } = rerankPairs[0] as (typeof rerankPairs)[0];
    const whole = await model.rank(query, documents);
    const many = await Promise.all(
      Array.from({ length: 8 }, () => model.rank(query, documents, { topK: 3 })),
    );
    for (const { results } of many)
      expect(results.map(({ index }) => index)).toEqual(whole.results.slice(0, 3).map(({ index }) => index));
    await model.close();
    await expect(model.rank(query, documents)).rejects.toMatchObject({ code: 'CLOSED' });
  });

  test('stop at an abort', async () => {
    await using model = await Reranker.load(await tinyReranker('one-layer', { layers: 6 }), { threads: 1 });
    const stop = new AbortController();
    const documents = Array.from({ length: 5000 }, (_, i) => `the moon shines over the water ${i}`.repeat(5));
    const running = model.rank('the moon', documents, { signal: stop.signal });
    stop.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('files', () => {
  test('are described', async () => {
    await using model = await Reranker.load(await tinyReranker('template'));
    expect(model.facts).toMatchObject({ architecture: 'qwen3', contextSize: 512, template: true });
    expect(model.facts.fingerprint).toMatch(/^[0-9a-f]{16}$/);
    await using small = await Reranker.load(await tinyReranker('one-layer'), { contextSize: 40 });
    expect(small.facts).toMatchObject({ architecture: 'bert', contextSize: 40, template: false });
  });

  test('without a classification head are refused, and rerankers are no embedding models', async () => {
    for (const path of [await tinyBert(), await tinyDecoder()])
      await expect(Reranker.load(path)).rejects.toMatchObject({
        code: 'UNSUPPORTED',
        message: expect.stringContaining('classification head'),
      });
    await expect(EmbeddingModel.load(await tinyReranker('two-layer'))).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: expect.stringContaining('Load it as a reranker'),
    });
  });

  test.each([
    ['a head of another width', { shape: [32, 1], length: 32 }],
    ['a head of more scores than labels', { shape: [64, 3], length: 192 }],
  ])('with %s are refused', async (_, { shape, length }) => {
    const path = await tinyReranker('one-layer', {
      edit: (file) =>
        file.replaced.set('cls.output.weight', { shape, type: 'F32', data: new Float32Array(length) }),
    });
    await expect(Reranker.load(path)).rejects.toMatchObject({ code: 'MODEL_INVALID' });
  });

  test('with weights that are not numbers are refused', async () => {
    const path = await tinyReranker('one-layer', {
      edit: (file) =>
        file.replaced.set('cls.output.weight', {
          shape: [64, 1],
          type: 'F32',
          data: new Float32Array(64).fill(Number.NaN),
        }),
    });
    await expect(Reranker.load(path)).rejects.toMatchObject({ code: 'MODEL_INVALID' });
  });

  test.each([
    ['without a document', '<s>{query}</s>'],
    ['with two documents', `${rerankTemplate}{document}`],
  ])('with a template %s are refused', async (_, template) => {
    const path = await tinyReranker('template', {
      edit: (file) => file.set('tokenizer.chat_template.rerank', { type: 'string', value: template }),
    });
    await expect(Reranker.load(path)).rejects.toMatchObject({ code: 'MODEL_INVALID' });
  });

  test('with a context too small for any pair are refused', async () => {
    await expect(Reranker.load(await tinyReranker('template'), { contextSize: 4 })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('too small for any pair'),
    });
  });
});
