import { beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { createStorage } from '../../src/knowledge/index.js';
import { createTinyModel } from '../../src/tiny-model/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const strings = [
  'Honey bees dance in the hive',
  'Glaciers grind valleys',
  'A sourdough starter is flour and water',
];
let model: EmbeddingModel;

beforeAll(async () => {
  await createTinyModel({ texts: strings, path: file('tiny.gguf'), dimension: 32 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

test('a storage of strings is searched in every mode, by either spelling of topK', async () => {
  await using storage = await createStorage({ strings, model });
  expect([storage.size, storage.dimension]).toEqual([3, 32]);
  for (const mode of ['dense', 'lexical', 'hybrid'] as const) {
    const { hits } = await storage.search({ text: 'glaciers grind', mode, top_k: 1 });
    expect(hits.map(({ id }) => id)).toEqual(['1']);
    expect((await storage.search({ text: 'glaciers grind', mode, topK: 1 })).hits).toEqual(hits);
  }
  expect((await storage.search({ text: 'glaciers', threshold: 0 })).hits).toEqual([]);
});

test('a search says which option it does not know', async () => {
  await using storage = await createStorage({ strings, model: { model, documentPrefix: 'passage: ' } });
  const search = (options: object) => storage.search({ text: 'bees', ...options });
  expect((await rejection(search({ topk: 1 }), 'INVALID_ARGUMENT')).message).toBe(
    'topk: is not an option of a search; did you mean "topK"?',
  );
  await rejection(search({ topK: 1, top_k: 1 }), 'INVALID_ARGUMENT');
  await rejection(search({ text: 7 }), 'INVALID_ARGUMENT');
  await rejection(search({ top_k: 0 }), 'INVALID_ARGUMENT');
  await rejection(storage.search('bees' as never), 'INVALID_ARGUMENT');
});

test.each([
  [[], 'strings'],
  ['bees', 'strings'],
  [['a', ' '], 'strings[1]'],
  [['a', 7], 'strings[1]'],
])('strings %j are refused', async (given, place) => {
  const error = await rejection(createStorage({ strings: given as never, model }), 'INVALID_ARGUMENT');
  expect(error.message).toContain(place);
});
