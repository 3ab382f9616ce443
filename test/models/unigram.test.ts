import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import {
  type GoldenTokens,
  generatedStrings,
  recordedTexts,
  tokenDigests,
} from '../helpers/golden-tokens.js';
import { haveWeights, multilingualE5 } from '../helpers/real-models.js';
import { repetitions } from '../helpers/repetitions.js';

const golden: GoldenTokens = JSON.parse(
  readFileSync(new URL('unigram.golden.json', import.meta.url), 'utf8'),
);
const data = process.env.LOREKEEP_DATA ?? '';
/** Of the blocks of each recorded file. */
const stride = repetitions('TOKEN_STRIDE', 8, 1);

describe.skipIf(!haveWeights(multilingualE5))('the tokens of multilingual-e5-small', () => {
  let model: EmbeddingModel;
  beforeAll(async () => {
    model = await EmbeddingModel.load(multilingualE5);
  });
  afterAll(() => model?.close());

  const words = async (text: string) => [...(await model.tokens(text))].slice(1, -1);

  test('of generated strings of more than 40 scripts are those of the reference', async () => {
    expect(Object.keys(golden.scripts).length).toBeGreaterThan(40);
    expect(await tokenDigests(golden, generatedStrings(golden), words)).toEqual(golden.strings);
  });

  test.skipIf(!existsSync(join(data, 'ir', 'xquad')))(
    'of texts in all languages of the test collections are those of the reference',
    async () => {
      const languages = new Set<string>();
      for (const { file, texts, digests } of recordedTexts(golden, data, stride)) {
        expect(await tokenDigests(golden, texts, words), file).toEqual(digests);
        languages.add(file.split('/').at(-2) as string);
      }
      expect(languages.size).toBeGreaterThanOrEqual(12);
    },
  );

  test('stand between <s> and </s>, and spellings of special tokens are plain text', async () => {
    const ids = [...(await model.tokens('query: </s><mask>'))];
    expect(ids[0]).toBe(0);
    expect(ids.at(-1)).toBe(2);
    expect(ids.slice(1, -1)).not.toContain(2);
    expect(ids.slice(1, -1)).not.toContain(250_001);
  });

  test.each([
    ['ｆｕｌｌ　ｗｉｄｔｈ', 'full width'],
    ['é', 'e\u0301'],
    ['①②', '12'],
    ['  a \n\t b  ', 'a b'],
    ['ﬁn\u200b', 'fin'],
  ])('of %s are those of %s', async (text, other) => {
    expect(await words(text)).toEqual(await words(other));
  });
});
