import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import {
  type GoldenTokens,
  generatedStrings,
  recordedTexts,
  tokenDigests,
} from '../helpers/golden-tokens.js';
import { repetitions } from '../helpers/repetitions.js';

const golden: GoldenTokens = JSON.parse(
  readFileSync(new URL('word-pieces.golden.json', import.meta.url), 'utf8'),
);
const data = process.env.LOREKEEP_DATA ?? '';
/** Of the blocks of each recorded file. */
const stride = repetitions('TOKEN_STRIDE', 8, 1);

let model: EmbeddingModel;
beforeAll(async () => {
  model = await EmbeddingModel.load(
    fileURLToPath(new URL('../../data/models/all-MiniLM-L6-v2.gguf', import.meta.url)),
  );
});
afterAll(() => model.close());

async function words(text: string): Promise<number[]> {
  return [...(await model.tokens(text))].slice(1, -1);
}

test('generated strings of more than 40 scripts have the tokens of the reference', async () => {
  expect(Object.keys(golden.scripts).length).toBeGreaterThan(40);
  expect(await tokenDigests(golden, generatedStrings(golden), words)).toEqual(golden.strings);
});

test.skipIf(!existsSync(join(data, 'multilingual')))(
  'texts of test collections in all languages have the tokens of the reference',
  async () => {
    for (const { file, texts, digests } of recordedTexts(golden, data, stride))
      expect(await tokenDigests(golden, texts, words), file).toEqual(digests);
  },
);

test.each([
  ['서울', '\u1109\u1165\u110b\u116e\u11af'],
  ['Bogotá', 'bogota'],
  ['Bogota\u0301', 'BOGOTA'],
  ['soft\u00adhyphen zero\u200bwidth', 'softhyphen zerowidth'],
  ['北京大学', '北 京 大 学'],
  ['a\u0000b\ufffdc', 'abc'],
])('%s has the tokens of %s', async (text, other) => {
  expect(await words(text)).toEqual(await words(other));
});

test('Korean words and vowel signs are not lost', async () => {
  expect(await words('서울')).not.toEqual(await words('상어'));
  expect(await words('कि')).not.toEqual(await words('की'));
  const rows = await model.embed(['서울', '상어']);
  let cosine = 0;
  for (let i = 0; i < model.dimension; i++) {
    cosine += (rows[i] as number) * (rows[model.dimension + i] as number);
  }
  expect(cosine).toBeLessThan(0.98);
});

test('a word of more than 100 characters is unknown', async () => {
  const unknown = await words('x'.repeat(101));
  expect(unknown).toHaveLength(1);
  expect(await words('x'.repeat(100))).not.toEqual(unknown);
  expect(await words('\u0301'.repeat(100_000))).toEqual([]);
  expect(await words('각'.repeat(34))).toEqual(unknown);
});
