import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel, LorekeepError } from '../../lib/index.js';

const path = fileURLToPath(new URL('../../data/models/lorekeep-mini.gguf', import.meta.url));
const mebibyte = 1024 * 1024;

interface Pair {
  kind: string;
  query: string;
  text: string;
}

const lines = (file: string): string[] =>
  readFileSync(new URL(file, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
const pairs = lines('../helpers/pairs.jsonl').map((line) => JSON.parse(line) as Pair);

let model: EmbeddingModel;
beforeAll(async () => {
  model = await EmbeddingModel.load(path);
});
afterAll(() => model.close());

async function cosine(a: string, b: string): Promise<number> {
  const rows = await model.embed([a, b]);
  return dot(rows, 0, rows, 1);
}

function dot(a: Float32Array, row: number, b: Float32Array, other: number): number {
  const width = model.dimension;
  let sum = 0;
  for (let i = 0; i < width; i++) sum += (a[row * width + i] as number) * (b[other * width + i] as number);
  return sum;
}

/** Share of the pairs of a kind whose sentence is nearest to the query among the sentences of all pairs. */
async function foundFirst(kind: string): Promise<number> {
  const texts = await model.embed(pairs.map(({ text }) => text));
  const queries = await model.embed(pairs.map(({ query }) => query));
  const own = pairs.flatMap((pair, i) => (pair.kind === kind ? [i] : []));
  const first = own.filter((i) => {
    const score = dot(queries, i, texts, i);
    return pairs.every((_, j) => j === i || dot(queries, i, texts, j) < score);
  });
  return first.length / own.length;
}

describe('the fast embedding model in the package', () => {
  test('is at most 8 MiB', () => {
    expect(statSync(path).size).toBeLessThanOrEqual(8 * mebibyte);
  });

  test('is the file that the catalog describes', () => {
    const catalog = JSON.parse(readFileSync(new URL('../../data/models.json', import.meta.url), 'utf8'));
    const entry = catalog.models.find(({ name }: { name: string }) => name === 'lorekeep-mini');
    expect(entry.variants).toMatchObject([
      {
        size_bytes: statSync(path).size,
        sha256: createHash('sha256').update(readFileSync(path)).digest('hex'),
      },
    ]);
  });

  test('is an ordinary BERT with a context of 512 and mean pooling', () => {
    expect(model.facts).toMatchObject({
      name: 'lorekeep-mini',
      architecture: 'bert',
      dimension: 512,
      contextSize: 512,
      pooling: 'mean',
    });
  });

  test('computes what the training code computes', async () => {
    const samples = lines('lorekeep-mini.samples.jsonl').map(
      (line) => JSON.parse(line) as { text: string; tokens: number; vector: number[] },
    );
    expect(samples.length).toBeGreaterThanOrEqual(5);
    for (const { text, tokens, vector } of samples) {
      expect(await model.countTokens(text), text).toBe(tokens);
      const row = await model.embed(text);
      const length = Math.hypot(...vector);
      expect(dot(row, 0, Float32Array.from(vector), 0) / length, text).toBeGreaterThan(0.999);
    }
  });

  test('refuses a text beyond its context, naming its length', async () => {
    const failure = await model.embed('the '.repeat(600)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LorekeepError);
    expect(failure).toMatchObject({ code: 'TEXT_TOO_LONG', detail: { tokens: 602, limit: 512 } });
  });
});

describe('its vectors', () => {
  test('do not care about case, accents and white space', async () => {
    expect(await cosine('Crème brûlée in a CAFÉ', 'creme  brulee\nin a cafe')).toBeGreaterThan(0.999);
  });

  test('say less and less for every repetition of a word', async () => {
    const once = await cosine('volcano library', 'library');
    const often = await cosine(`${'volcano '.repeat(30)}library`, 'library');
    // "library" against the rest: as a plain average of words, 30 volcanoes weigh 30 times as much as one.
    const share = (value: number) => value / Math.sqrt(1 - value * value);
    expect(share(often) * 30).toBeGreaterThan(4 * share(once));
    expect(share(often)).toBeLessThan(share(once) / 2);
  });

  test('do not depend on the texts beside them', async () => {
    const together = await model.embed(pairs.slice(0, 40).map(({ text }) => text));
    const alone = await model.embed(pairs[7]?.text as string);
    expect(dot(together, 7, alone, 0)).toBeGreaterThan(0.999);
  });

  test('lie nearer to what is meant than to what is not', async () => {
    const near = await cosine('the doctor prescribed tablets', 'a physician gave the patient medicine');
    const far = await cosine('the doctor prescribed tablets', 'the committee discussed the budget');
    expect(near).toBeGreaterThan(far + 0.05);
  });
});

describe('questions as users type them find their answer first', () => {
  test('at least 200 pairs are asked', () => {
    expect(pairs.length).toBeGreaterThanOrEqual(200);
  });

  // A little below what the model reaches; see docs/reference/model-cards.md.
  test.each([
    ['morphology', 0.9],
    ['synonym', 0.5],
    ['typo', 0.8],
  ])('%s', async (kind, least) => {
    expect(await foundFirst(kind)).toBeGreaterThanOrEqual(least);
  });
});
