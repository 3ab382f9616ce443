import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { createStorage } from '../../src/knowledge/index.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { temporaryFolder } from '../helpers/folder.js';
import { haveWeights, multilingualE5 } from '../helpers/real-models.js';
import { repetitions } from '../helpers/repetitions.js';

const inFolder = temporaryFolder();
const data = join(process.env.LOREKEEP_DATA ?? '', 'ir', 'xquad');
const shipped = JSON.parse(readFileSync(new URL('../../data/models.json', import.meta.url), 'utf8'));
const name = 'multilingual-e5-small';
/** Paragraphs of each language. */
const paragraphs = repetitions('PARAGRAPHS', 16, 60);
const languages = ['th', 'zh', 'de'].slice(0, repetitions('LANGUAGES', 1, 3));

/** The shipped catalog's entry, for the file of the tests. */
async function catalogModels(): Promise<CatalogModels> {
  const entry = shipped.models.find((one: { name: string }) => one.name === name);
  const variants = [{ name: 'Q8_0', file: multilingualE5, context_size: entry.variants[0].context_size }];
  const path = inFolder('models.json');
  writeFileSync(path, JSON.stringify({ version: 1, models: [{ ...entry, variants }] }));
  return CatalogModels.open(path);
}

function read(language: string, file: string): { id: string; text: string }[] {
  const lines = gunzipSync(readFileSync(join(data, language, `${file}.jsonl.gz`)))
    .toString()
    .trimEnd();
  return lines.split('\n').map((line) => JSON.parse(line));
}

/** Mean reciprocal rank of the paragraphs of some questions, of the first hits. */
async function reciprocalRank(models: CatalogModels, language: string): Promise<number> {
  const documents = read(language, 'corpus').slice(0, paragraphs);
  const ids = new Set(documents.map(({ id }) => id));
  const judged = new Map(
    gunzipSync(readFileSync(join(data, language, 'qrels.tsv.gz')))
      .toString()
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t') as [string, string]),
  );
  const questions = read(language, 'queries').filter(({ id }) => ids.has(judged.get(id) as string));
  const records = documents.map(({ id, text }) => ({ id, text: text.slice(0, 1000) }));
  await using kb = await createStorage({ records, model: await models.resolve(name) });
  let sum = 0;
  const asked = questions.filter((_, i) => i % Math.floor(questions.length / 21) === 0);
  for (const { id, text } of asked) {
    const { hits } = await kb.search({ text, mode: 'dense', topK: 10 });
    const rank = hits.findIndex((hit) => hit.id === judged.get(id));
    if (rank >= 0) sum += 1 / (rank + 1);
  }
  expect(asked.length).toBeGreaterThan(20);
  return sum / asked.length;
}

describe.skipIf(!haveWeights(multilingualE5))('multilingual-e5-small', () => {
  test.skipIf(!existsSync(data))(
    'finds answers in other languages, from the catalog with its prefixes',
    async () => {
      await using models = await catalogModels();
      expect(models.multilingual()).toMatchObject({ name, present: true });
      const model = await models.resolve(name);
      expect(model).toMatchObject({ queryPrefix: 'query: ', documentPrefix: 'passage: ', dimension: 384 });
      for (const language of languages) {
        expect(await reciprocalRank(models, language), language).toBeGreaterThan(0.9);
      }
    },
  );

  test('is computed by every runtime as by llama.cpp', async () => {
    const texts = [
      'query: Wer zündet die Lampe an?',
      'passage: ผู้ดูแลจุดตะเกียงทุกคืน',
      'passage: 守塔人每天晚上点亮灯。',
    ];
    await using llama = await EmbeddingModel.load(multilingualE5, { runtime: 'llama.cpp' });
    const expected = await llama.embed(texts);
    const { candidates } = llama.facts;
    expect(candidates[0]).toBe('llama.cpp');
    for (const runtime of candidates.slice(1)) {
      await using model = await EmbeddingModel.load(multilingualE5, { runtime });
      const rows = await model.embed(texts);
      for (let text = 0; text < texts.length; text++) {
        const at = text * model.dimension;
        let cosine = 0;
        for (let i = at; i < at + model.dimension; i++)
          cosine += (rows[i] as number) * (expected[i] as number);
        expect(cosine, `${runtime}, ${texts[text]}`).toBeGreaterThan(0.999);
      }
    }
  });

  test('is refused once its file was changed in place, because its rows are read from there', async () => {
    const path = inFolder('changed.gguf');
    writeFileSync(path, readFileSync(multilingualE5));
    await using model = await EmbeddingModel.load(path);
    await model.embed(['query: a']);
    if (model.facts.runtime === 'llama.cpp' || process.platform === 'win32') return;
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length / 2));
    await expect(model.embed(['query: b'])).rejects.toMatchObject({ code: 'CORRUPT' });
  });
});
