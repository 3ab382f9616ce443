import { beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { createStorage } from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

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
    const { hits } = await storage.search({ text: 'glaciers grind', mode, topK: 1 });
    expect(hits.map(({ id }) => id)).toEqual(['1']);
    expect((await storage.search({ text: 'glaciers grind', mode, topK: 1 })).hits).toEqual(hits);
  }
  expect((await storage.search({ text: 'glaciers', mode: 'dense', threshold: 0 })).hits).toEqual([]);
});

test('a search is hybrid unless it says otherwise, over words without endings', async () => {
  await using storage = await createStorage({ strings, model });
  expect(await storage.search({ text: 'glacier' })).toMatchObject({
    plan: { mode: 'hybrid', lexical: { terms: 1 } },
  });
});

test.each([
  ['rrf', 'dense', { rrf: { k: 10 } }],
  ['rrf', 'lexical', { rrf: {} }],
  ['threshold', 'lexical', { threshold: 0.5 }],
  ['ef', 'lexical', { ef: 100 }],
] as const)('a search refuses %s in %s mode, where it has no effect', async (field, mode, options) => {
  await using storage = await createStorage({ strings, model });
  const error = await rejection(storage.search({ text: 'bees', mode, ...options }), 'INVALID_ARGUMENT');
  expect(error.detail).toMatchObject({ field });
  expect(error.message).toContain(`no effect in ${mode} mode`);
});

test('a search says which option it does not know', async () => {
  await using storage = await createStorage({ strings, model: { model, documentPrefix: 'passage: ' } });
  const search = (options: object) => storage.search({ text: 'bees', ...options });
  expect((await rejection(search({ topk: 1 }), 'INVALID_ARGUMENT')).message).toBe(
    'topk: is not an option of a search; did you mean "topK"?',
  );
  expect((await rejection(search({ top_k: 1 }), 'INVALID_ARGUMENT')).message).toBe(
    'top_k: is not an option of a search; did you mean "topK"?',
  );
  await rejection(search({ text: 7 }), 'INVALID_ARGUMENT');
  await rejection(search({ topK: 0 }), 'INVALID_ARGUMENT');
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

test('an option that there is none of, and a string that the model cannot embed, are named', async () => {
  const create = (options: object) =>
    rejection(createStorage({ strings, model, ...options }), 'INVALID_ARGUMENT');
  expect((await create({ tokeniser: 'enhanced' })).message).toContain('did you mean "tokenizer"?');
  expect((await create({ strings: ['bees', '\0'] })).message).toMatch(
    /^strings\[1\]: the text has no tokens/,
  );
  expect((await rejection(createStorage(undefined as never), 'INVALID_ARGUMENT')).message).toContain(
    'an object',
  );
  await using storage = await createStorage({ strings, model });
  const search = (options: object) =>
    rejection(storage.search({ text: 'bees', ...options }), 'INVALID_ARGUMENT');
  expect((await search({ rrf: { weight: {} } })).message).toContain('rrf.weight: is not an option');
  expect((await search({ rrf: { weights: { words: 1 } } })).message).toContain('rrf.weights.words: ');
  expect((await search({ rrf: 5 })).message).toBe('rrf: an object is expected');
  expect((await search({ signal: 5 })).message).toContain('signal: an AbortSignal is expected');
});

test.each(['', ' \n', '\0'])('a query of %j says that it is empty, in every mode', async (text) => {
  await using storage = await createStorage({ strings, model });
  const nothing = { tokens: 0, terms: 0, scored: 0 };
  for (const mode of ['lexical', 'hybrid'] as const) {
    const { embedMs, searchMs, ...found } = await storage.search({ text, mode });
    expect(found).toMatchObject({ hits: [], plan: { mode, lexical: nothing } });
    expect(found.plan.dense).toBeUndefined();
    expect([embedMs >= 0, searchMs >= 0]).toEqual([true, true]);
  }
  expect((await rejection(storage.search({ text, mode: 'dense' }), 'INVALID_ARGUMENT')).message).toMatch(
    /^text: /,
  );
  const rrf = { weights: { lexical: 0 } };
  await rejection(storage.search({ text, mode: 'hybrid', rrf }), 'INVALID_ARGUMENT');
});

test('a search says what its embedding took, where there was one', async () => {
  await using storage = await createStorage({ strings, model });
  const embedding = { tokens: expect.any(Number), batches: 1 };
  expect(await storage.search({ text: 'bees', mode: 'dense' })).toMatchObject({ embedding });
  expect(await storage.search({ text: 'bees', mode: 'hybrid' })).toMatchObject({ embedding });
  expect(await storage.search({ text: 'bees', mode: 'lexical' })).not.toHaveProperty('embedding');
});

test('a blank query is empty behind a prefix, too', async () => {
  await using storage = await createStorage({ strings, model: { model, queryPrefix: 'bees ' } });
  const blank = storage.search({ text: ' ', mode: 'dense' });
  expect((await rejection(blank, 'INVALID_ARGUMENT')).message).toMatch(/^text: /);
});

test('a filter that names no field works without fields', async () => {
  await using storage = await createStorage({ strings, model });
  const found = async (filter: object) =>
    (await storage.search({ text: 'bees', filter: filter as never })).plan.dense?.matched;
  expect(await found({ and: [] })).toBe(3);
  expect(await found({ or: [] })).toBe(0);
  const naming = storage.search({ text: 'bees', filter: { '==': [{ knowledge: 'year' }, 1] } });
  expect((await rejection(naming, 'INVALID_ARGUMENT')).message).toContain('year');
});

test('close() lets searches that wait for their query to be embedded finish, and refuses later ones', async () => {
  const storage = await createStorage({ strings, model });
  const pending = Array.from({ length: 20 }, () =>
    storage.search({ text: 'glaciers grind', mode: 'hybrid' }),
  );
  const closing = storage.close();
  await rejection(storage.search({ text: 'glaciers grind' }), 'CLOSED');
  for (const { hits } of await Promise.all(pending)) expect(hits[0]?.id).toBe('1');
  await closing;
  await storage.close();
});
