/** Which weights a hybrid search uses: its own, the model's for the tokenizer, the model's. */
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { type ModelFusion, openKnowledgeBase } from '../../src/knowledge/index.js';
import { fusionFor, modelFusion, modelFusionSchema } from '../../src/search/model-fusion.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const records = ['honey bees dance', 'bees sting', 'glaciers grind valleys'].map((text) => ({
  id: text,
  text,
}));

let model: EmbeddingModel;
beforeAll(async () => {
  await createTinyModel({ texts: records.map(({ text }) => text), path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});
afterAll(() => model.close());

describe('the fusion of a hybrid search', () => {
  const fusion: ModelFusion = {
    dense: 0.5,
    k: 3,
    candidates: 70,
    byTokenizer: { enhanced: { dense: 0.2, lexical: 2 } },
  };

  test('is the library’s where nobody says anything', () => {
    expect(fusionFor('basic')).toEqual({ weights: {} });
  });

  test('is the model’s, field by field, beside each tokenizer', () => {
    expect(fusionFor('basic', fusion)).toEqual({ k: 3, weights: { dense: 0.5 }, candidates: 70 });
    expect(fusionFor('enhanced', fusion)).toEqual({
      k: 3,
      weights: { dense: 0.2, lexical: 2 },
      candidates: 70,
    });
  });

  test('is the search’s own where it says something, zero included', () => {
    const said = { k: 0, weights: { dense: 0 } };
    expect(fusionFor('enhanced', fusion, said)).toEqual({
      k: 0,
      weights: { dense: 0, lexical: 2 },
      candidates: 70,
    });
  });

  test('of a catalog entry is spelled as the library spells options', () => {
    const entry = { k: 3, score_weight: 0.25, by_tokenizer: { enhanced: { score_weight: 0.1, lexical: 2 } } };
    expect(modelFusion(modelFusionSchema.parse(entry))).toEqual({
      k: 3,
      scoreWeight: 0.25,
      byTokenizer: { enhanced: { scoreWeight: 0.1, lexical: 2 } },
    });
  });

  test.each([
    [{ dense: -1 }, 'dense'],
    [{ weights: { dense: 1 } }, 'weights'],
    [{ by_tokenizer: { fancy: {} } }, 'fancy'],
    [{ by_tokenizer: { basic: { lexcal: 1 } } }, 'lexcal'],
  ])('cannot be %j', (given, culprit) => {
    const { error } = modelFusionSchema.safeParse(given);
    expect(JSON.stringify(error?.issues)).toContain(culprit);
  });
});

describe('a knowledge base', () => {
  let written = 0;

  async function scores(bm25_tokenizer: 'basic' | 'enhanced', rrf?: { weights: { lexical: number } }) {
    const fusion: ModelFusion = { dense: 0, lexical: 3, k: 1, byTokenizer: { enhanced: { lexical: 5 } } };
    const config = file(`kb${written++}.json`);
    writeFileSync(file('records.json'), JSON.stringify(records));
    writeFileSync(
      config,
      JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json', bm25_tokenizer }),
    );
    await using opened = await openKnowledgeBase(config, { models: async () => ({ model, fusion }) });
    expect(opened.storage.tokenizer).toBe(bm25_tokenizer);
    const { hits } = await opened.search({ mode: 'hybrid', text: 'glaciers', fusion: 'rrf', rrf });
    return hits.map(({ score }) => score);
  }

  test('searches with the fusion of its model and tokenizer, unless the search says otherwise', async () => {
    expect(await scores('basic')).toEqual([1.5]);
    expect(await scores('enhanced')).toEqual([2.5]);
    expect(await scores('enhanced', { weights: { lexical: 1 } })).toEqual([0.5]);
  });

  async function planned(configured: 'rrf' | 'scores' | undefined, options: object, fusion?: ModelFusion) {
    const config = file(`kb${written++}.json`);
    writeFileSync(file('records.json'), JSON.stringify(records));
    const written_ = { embedding_model: 'tiny', records_file: 'records.json', fusion: configured };
    writeFileSync(config, JSON.stringify(written_));
    await using opened = await openKnowledgeBase(config, { models: async () => ({ model, fusion }) });
    const { plan } = await opened.search({ mode: 'hybrid', text: 'glaciers grind', ...options });
    return plan.fusion;
  }

  test('fuses as the search says, else as its options imply, else as the config says, else by ranks', async () => {
    expect(await planned(undefined, {})).toEqual({ method: 'rrf' });
    expect(await planned('rrf', {})).toEqual({ method: 'rrf' });
    expect(await planned('rrf', { fusion: 'scores' })).toMatchObject({ method: 'scores' });
    expect(await planned('rrf', { scores: { weight: 0.5 } })).toMatchObject({ weights: { dense: 0.5 } });
    expect(await planned('scores', { rrf: { k: 1 } })).toEqual({ method: 'rrf' });
  });

  test('fuses by scores with the weight of its model, unless the search says otherwise', async () => {
    const share: ModelFusion = { scoreWeight: 0.25, byTokenizer: { enhanced: { scoreWeight: 0.1 } } };
    expect(await planned('scores', {}, share)).toMatchObject({ weights: { dense: 0.25, lexical: 0.75 } });
    expect(await planned(undefined, { scores: { weight: 0.9 } }, share)).toMatchObject({
      weights: { dense: 0.9 },
    });
  });

  test('searches a text without model tokens by its words alone, in both fusions', async () => {
    for (const fusion of ['rrf', 'scores'] as const) {
      const plan = await planned(undefined, { text: '   ', fusion });
      expect(plan?.method).toBe(fusion);
    }
  });
});
