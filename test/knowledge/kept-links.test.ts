import { readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { EmbeddingModel, VectorIndex } from '../../lib/index.js';
import { buildKnowledgeBase, openKnowledgeBase } from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const vocabulary = Array.from(
  { length: 120 },
  (_, n) => `word${String.fromCharCode(97 + (n % 26), 97 + n / 26)}`,
);
let model: EmbeddingModel;
const models = async () => ({ model });

/** Eight words that a number chooses. */
function textOf(n: number): string {
  let state = n + 1;
  return Array.from({ length: 8 }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0;
    return vocabulary[state % vocabulary.length];
  }).join(' ');
}

const recordsOf = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => ({ id: `r${from + n}`, text: textOf(from + n) }));

const build = (records: object[]) => {
  writeFileSync(file('records.json'), JSON.stringify(records));
  return buildKnowledgeBase(file('kb.json'), { models });
};

beforeAll(async () => {
  await createTinyModel({ texts: vocabulary, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
  const config = { embedding_model: 'm', records_file: 'records.json', index_file: 'kb.index' };
  writeFileSync(file('kb.json'), JSON.stringify(config));
});

test('a build links only the records that changed, and every record is found', async () => {
  expect(await build(recordsOf(0, 1500))).toMatchObject({ linked: 1500 });
  expect(await build(recordsOf(0, 1500))).toMatchObject({ records: 1500, linked: 0 });
  const edited = [...recordsOf(100, 1500).reverse(), ...recordsOf(2000, 2050)];
  const { linked } = await build(edited);
  expect(linked).toBeGreaterThanOrEqual(50);
  expect(linked).toBeLessThan(300);
  await using base = await openKnowledgeBase(file('kb.json'), { models });
  let found = 0;
  for (let n = 0; n < edited.length; n += 7) {
    const { hits } = await base.search({ mode: 'dense', text: edited[n]?.text ?? '', topK: 3, ef: 64 });
    if (hits.some(({ text }) => text === edited[n]?.text)) found++;
  }
  expect(found / Math.ceil(edited.length / 7)).toBeGreaterThan(0.98);
});

test('an opening that builds an outdated index again keeps links, too, and a damaged index is no obstacle', async () => {
  await build(recordsOf(0, 1200));
  writeFileSync(file('records.json'), JSON.stringify(recordsOf(10, 1210)));
  await using base = await openKnowledgeBase(file('kb.json'), { models });
  expect(base.indexWritten).toBe(true);
  const bytes = readFileSync(file('kb.index'));
  writeFileSync(file('kb.index'), bytes.subarray(0, bytes.length / 2));
  expect(await build(recordsOf(0, 1200))).toMatchObject({ linked: 1200 });
});

test('an index takes the links of an earlier one, and does not need it afterwards', async () => {
  let state = 1;
  const vectors = Float32Array.from({ length: 1500 * 48 }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
  await using first = await VectorIndex.build(vectors.slice(0, 1450 * 48), 48);
  expect(first.linked).toBe(1450);
  await using second = await VectorIndex.build(vectors, 48, { earlier: first });
  await first.close();
  expect(second.linked).toBe(50);
  const [nearest] = await second.searchMany(vectors.slice(0, 48), { k: 1, ef: 64 });
  expect([...(nearest?.ordinals ?? [])]).toEqual([0]);
  await second.save(file('plain.index'));
  await using loaded = await VectorIndex.load(file('plain.index'));
  expect(loaded.linked).toBe(0);
  await using third = await VectorIndex.build(vectors, 48, { earlier: loaded });
  expect(third.linked).toBe(0);
  await rejection(VectorIndex.build(vectors, 48, { earlier: {} as VectorIndex }), 'INVALID_ARGUMENT');
  await rejection(VectorIndex.build(vectors, 48, { earlier: first }), 'CLOSED');
});
