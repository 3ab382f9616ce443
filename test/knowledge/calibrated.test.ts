/** A knowledge base whose config corrects the relevance of its hits. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { evaluate, openKnowledgeBase, searchStorages } from '../../src/knowledge/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const texts = ['honey bees dance', 'bees sting bears', 'glaciers grind valleys', 'rivers carry sand'];
const records = texts.map((text, n) => ({ id: `r${n}`, text }));
const modes = ['dense', 'lexical', 'hybrid'] as const;
const relevance = { dense: { offset: 1 }, lexical: { slope: 0.5 }, hybrid: { offset: -1, slope: 2 } };
const odds = (value: number) => Math.log(value / (1 - value));

let model: EmbeddingModel;
beforeAll(async () => {
  await createTinyModel({ texts, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
  writeFileSync(file('records.json'), JSON.stringify(records));
});
afterAll(() => model.close());

function open(name: string, changes: object) {
  const config = { embedding_model: 'tiny', records_file: 'records.json', ...changes };
  writeFileSync(file(name), JSON.stringify(config));
  return openKnowledgeBase(file(name), { models: async () => ({ model }) });
}

test.each(modes)(
  'has the relevance that its config asks for in %s mode, before minScore counts',
  async (mode) => {
    await using plain = await open('plain.json', {});
    await using corrected = await open('corrected.json', { relevance });
    const search = { text: 'bees dance', mode, topK: 4 };
    const before = (await plain.search(search)).hits;
    const { hits } = await corrected.search(search);
    const { offset = 0, slope = 1 } = relevance[mode] as { offset?: number; slope?: number };
    expect(hits.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    for (const [index, hit] of hits.entries())
      expect(odds(hit.relevance)).toBeCloseTo(offset + slope * odds(before[index]?.relevance ?? 0), 6);
    const minScore = hits[1]?.relevance ?? 0;
    const kept = await corrected.search({ ...search, minScore });
    expect(kept.hits.map(({ id }) => id)).toEqual(
      hits.filter((hit) => hit.relevance >= minScore).map(({ id }) => id),
    );
    const paged = await corrected.search({ ...search, offset: 0 });
    expect(paged.hits.map((hit) => hit.relevance)).toEqual(hits.map((hit) => hit.relevance));
  },
);

test('is merged with others by its corrected relevance', async () => {
  await using plain = await open('plain.json', {});
  await using corrected = await open('corrected.json', { relevance: { hybrid: { offset: 10 } } });
  const { hits } = await searchStorages(
    { plain, corrected },
    { mode: 'hybrid', text: 'bees dance', topK: 2 },
  );
  expect(hits.map(({ storage }) => storage)).toEqual(['corrected', 'corrected']);
});

test('is evaluated with its correction, and the correction that judgments ask for takes its place', async () => {
  await using plain = await open('plain.json', {});
  await using corrected = await open('corrected.json', { relevance });
  const questions = Array.from({ length: 30 }, (_, n) => {
    const relevant = new Map(records.filter((_, at) => at !== n % 4).map(({ id }) => [id, 1] as const));
    return { question: texts[n % 4] ?? '', relevant, draft: false };
  });
  const before = await evaluate(plain, questions);
  const after = await evaluate(corrected, questions);
  expect(Object.keys(before.calibrations).sort()).toEqual(['dense', 'hybrid', 'lexical']);
  const { hybrid } = before.calibrations;
  expect(hybrid?.corrected).toBeLessThan(hybrid?.error ?? 0);
  expect(after.calibrations.hybrid?.error).not.toBe(hybrid?.error);
  await using fitted = await open('fitted.json', { relevance: { hybrid: hybrid?.calibration } });
  const again = (await evaluate(fitted, questions)).calibrations.hybrid;
  expect(again?.error).toBeLessThan(hybrid?.error ?? 0);
});

test('is saved with its correction, and with its other ways of searching', async () => {
  const searched = { relevance, fusion: 'rrf', lexical: { query_syntax: 'extended', stopwords: ['the'] } };
  await using corrected = await open('corrected.json', searched);
  const [path = ''] = await corrected.save(file('saved', 'kb.json'), { embeddingModel: 'tiny' });
  const { search } = JSON.parse(readFileSync(path, 'utf8'));
  expect(search).toEqual({ mode: 'dense', top_k: 5, ...searched });
  await using again = await openKnowledgeBase(path, { models: async () => ({ model }) });
  expect(again.warnings).toEqual([]);
  expect(again.defaults).toEqual(corrected.defaults);
});
