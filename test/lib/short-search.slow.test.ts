import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NativeStorage, NativeTextIndex, NativeVectorIndex } from '../../lib/boundary/native.js';
import { searchNumbers } from '../../lib/boundary/options.gen.js';
import {
  Storage,
  type StorageHit,
  type StorageSearchOptions,
  TextIndex,
  VectorIndex,
} from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { random } from '../helpers/random.js';

const dimension = 32;
const count = 2000;
/** After so many the library knows that searches of this storage are short. */
const manyTimes = 40;
const next = random(11);
const number = () => next() - 0.5;
const vectors = Float32Array.from({ length: count * dimension }, number);
const query = () => Float32Array.from({ length: dimension }, number);
const threeQueries = () => Float32Array.from({ length: 3 * dimension }, number);

const fields = [
  { name: 'year', type: 'int', optional: true },
  { name: 'weight', type: 'float', default: 0.5 },
  { name: 'open', type: 'bool', default: false },
  { name: 'author', type: 'string', optional: true },
  { name: 'tags', type: 'set<string>', optional: true },
] as const;

function metadataOf(i: number): Record<string, unknown> {
  return {
    ...(i % 3 > 0 && { year: i % 5 === 0 ? 2n ** 60n + BigInt(i) : i - 1000 }),
    weight: i / 7,
    open: i % 2 === 0,
    ...(i % 4 > 0 && { author: i % 8 === 1 ? `Zoë ${i}` : `writer ${i}` }),
    ...(i % 5 > 1 && { tags: ['a', `tag ${i % 9}`] }),
  };
}
const records = Array.from({ length: count }, (_, i) => ({
  id: `record-${i}`,
  text: i % 6 === 0 ? `Größe, 数 and 🦊 of word${i % 17}` : `plain words of word${i % 17} ${i}`,
  metadata: metadataOf(i),
}));

const texts = records.map(({ text }) => text);

let storage: Storage;
let index: VectorIndex;
let words: TextIndex;

beforeAll(async () => {
  storage = await Storage.build(records, vectors, dimension, { fields, threads: 1, seed: 1 });
  index = await VectorIndex.build(vectors, dimension, { threads: 1, seed: 1 });
  words = await TextIndex.build(texts);
});
afterAll(() => Promise.all([storage.close(), index.close(), words.close()]));

/** What a record is, as a hit says it. */
const asStored = ({ id, text, metadata }: StorageHit) => ({ id, text, metadata });

describe('the first search, on another thread, and the hundredth, on the calling one', () => {
  const filter = {
    and: [{ '>=': [{ knowledge: 'weight' }, 20] }, { '==': [{ knowledge: 'open' }, true] }],
  } as const;
  const requests: Record<string, StorageSearchOptions> = {
    dense: { vector: query(), topK: 20 },
    'dense under a filter': { vector: query(), topK: 7, filter },
    'dense with a threshold': { vector: query(), topK: 50, threshold: 0.6 },
    lexical: { mode: 'lexical', text: 'plain word3 数', topK: 9 },
    hybrid: { mode: 'hybrid', vector: query(), text: 'word5 🦊', topK: 12, rrf: { weights: { dense: 0.5 } } },
    'no hits': { mode: 'lexical', text: 'nowhere' },
  };
  test.each(Object.entries(requests))('%s: give the same', async (_, request) => {
    const fresh = await Storage.build(records, vectors, dimension, { fields, threads: 1, seed: 1 });
    const filter = request.filter && fresh.compileFilter(request.filter as never);
    const first = await fresh.search({ ...request, filter });
    for (let i = 0; i < manyTimes; i++) {
      expect(await fresh.search({ ...request, filter })).toEqual(first);
    }
    for (const hit of first.hits) {
      const { id, text, metadata } = records[hit.ordinal] as (typeof records)[number];
      expect(asStored(hit)).toEqual({ id, text, metadata });
      expect(Object.getPrototypeOf(hit)).toBe(Object.prototype);
    }
    await fresh.close();
  });

  test('an index gives the same hits and the same plan', async () => {
    const fresh = await VectorIndex.build(vectors, dimension, { threads: 1, seed: 1 });
    const vector = query();
    const first = await fresh.search(vector, { k: 15 });
    for (let i = 0; i < manyTimes; i++) expect(await fresh.search(vector, { k: 15 })).toEqual(first);
    await fresh.close();
  });

  test.each([1, 2, 4, 7, 16, 17])('%i queries in one call give what each gives alone', async (size) => {
    const fresh = await VectorIndex.build(vectors, dimension, { threads: 1, seed: 1 });
    const queries = Float32Array.from({ length: size * dimension }, number);
    const first = await fresh.searchMany(queries, { k: 9 });
    for (let i = 0; i < manyTimes; i++) expect(await fresh.searchMany(queries, { k: 9 })).toEqual(first);
    const alone = Array.from({ length: size }, (_, row) =>
      index.search(queries.subarray(row * dimension, (row + 1) * dimension), { k: 9 }),
    );
    expect(first).toEqual(await Promise.all(alone));
    const all = await fresh.searchMany(queries, { k: count });
    expect(all.map(({ ordinals }) => new Set(ordinals).size)).toEqual(Array(size).fill(count));
    for (let i = 0; i < manyTimes; i++)
      await rejection(fresh.searchMany(queries.subarray(1)), 'DIMENSION_MISMATCH');
    expect(await fresh.searchMany(new Float32Array(0))).toEqual([]);
    await fresh.close();
    await rejection(fresh.searchMany(queries), 'CLOSED');
  });

  test.each([
    ['plain word3 数', 9],
    ['word5', 2000],
    ['nowhere', 10],
    ['...', 10],
    ['word2 plain '.repeat(400), 3],
  ])('a text index gives the same for %s', async (text, k) => {
    const fresh = await TextIndex.build(texts);
    const first = await fresh.search(text, { k });
    for (let i = 0; i < manyTimes; i++) expect(await fresh.search(text, { k })).toEqual(first);
    const filter = first.ordinals.slice(0, 5);
    const { ordinals } = await fresh.search(text, { k, filter });
    expect(new Set(ordinals)).toEqual(new Set(filter.slice(0, k)));
    await fresh.close();
  });
});

test('a filter lets through what it lets through of each storage, and under each variable', async () => {
  const reversed = await Storage.build(records.toReversed(), vectors, dimension, {
    fields,
    threads: 1,
    seed: 1,
  });
  const fixed = storage.compileFilter({ '<': [{ knowledge: 'weight' }, 40] });
  const variable = storage.compileFilter({ '<': [{ knowledge: 'weight' }, { variable: 'most' }] });
  const vector = query();
  for (let i = 0; i < manyTimes; i++) {
    for (const one of [storage, reversed]) {
      const most = 20 + (i % 3);
      for (const [filter, limit] of [
        [fixed, 40],
        [variable, most],
      ] as const) {
        const variables = filter === variable ? { most } : undefined;
        const { hits, plan } = await one.search({ vector, topK: 300, filter, variables });
        expect(hits.length).toBe(Math.min(300, limit * 7));
        expect(plan.dense?.matched).toBe(limit * 7);
        for (const { id, metadata } of hits) {
          expect(metadata?.weight).toBeLessThan(limit);
          expect(id).toBe(`record-${Math.round(Number(metadata?.weight) * 7)}`);
        }
      }
    }
  }
  await reversed.close();
});

test('a filter that lets many records through gives the same from its first use to its hundredth', async () => {
  const size = 6000;
  const length = 64;
  const rows = Float32Array.from({ length: size * length }, number);
  const many = Array.from({ length: size }, (_, i) => ({
    id: `${i}`,
    text: 'x',
    metadata: { weight: i % 10 },
  }));
  const large = await Storage.build(many, rows, length, {
    fields: [{ name: 'weight', type: 'int', default: 0 }],
  });
  const filter = large.compileFilter({ '<': [{ knowledge: 'weight' }, 5] });
  const asked = Array.from({ length: 4 }, () => Float32Array.from({ length }, number));
  const search = (vector: Float32Array, by: unknown) =>
    large.search({ vector, topK: 10, filter: by as typeof filter });
  const first = await Promise.all(
    asked.map((vector) => search(vector, { '<': [{ knowledge: 'weight' }, 5] })),
  );
  expect(first.map(({ plan }) => plan.dense?.path)).toEqual(asked.map(() => 'cells'));
  for (let i = 0; i < manyTimes; i++) {
    for (const [which, vector] of asked.entries()) expect(await search(vector, filter)).toEqual(first[which]);
  }
  await large.close();
});

test('hits are plain values that JSON holds, and keep what they are when other searches follow', async () => {
  const vector = query();
  for (let i = 0; i < manyTimes; i++) await storage.search({ vector });
  const { hits } = await storage.search({ vector, topK: 3, filter: { '<': [{ knowledge: 'year' }, 500] } });
  const json = JSON.stringify(hits);
  for (let i = 0; i < manyTimes; i++) await storage.search({ vector: query(), topK: 3 });
  expect(JSON.stringify(hits)).toBe(json);
  expect(Object.keys(JSON.parse(json)[0])).toEqual(
    expect.arrayContaining(['id', 'text', 'metadata', 'score', 'rank', 'distance', 'denseRank']),
  );
});

describe('a caller who does nothing but search', () => {
  const searches = {
    'a storage': () => storage.search({ vector: query(), topK: 3 }),
    'an index': () => index.search(query(), { k: 3 }),
    'an index for three at a time': () => index.searchMany(threeQueries(), { k: 3 }),
    'a text index': () => words.search('plain word3', { k: 3 }),
  };
  test.each(Object.entries(searches))('lets timers run (%s)', async (_, search) => {
    let rang = false;
    setTimeout(() => {
      rang = true;
    }, 0);
    let calls = 0;
    for (; !rang && calls < 100_000; calls++) await search();
    expect(rang, `after ${calls} searches`).toBe(true);
  });

  test('gets the same hits from a thousand searches at once as one after the other', async () => {
    const queries = Array.from({ length: 1000 }, query);
    const atOnce = await Promise.all(queries.map((vector) => storage.search({ vector, topK: 4 })));
    for (const [i, vector] of queries.entries()) {
      expect(await storage.search({ vector, topK: 4 })).toEqual(atOnce[i]);
    }
  });
});

describe('closing and aborting while many search', () => {
  test('close() waits for searches that were asked for before', async () => {
    const fresh = await Storage.build(records, vectors, dimension, { fields });
    const rows = await VectorIndex.build(vectors, dimension);
    const said = await TextIndex.build(texts);
    for (let i = 0; i < manyTimes; i++) await fresh.search({ vector: query() });
    for (let i = 0; i < manyTimes; i++) await rows.search(query());
    for (let i = 0; i < manyTimes; i++) await said.search('word1');
    const asked = Array.from({ length: 300 }, () => [
      fresh.search({ vector: query() }),
      rows.search(query()),
      rows.searchMany(threeQueries()),
      said.search('word1'),
    ]).flat();
    const closing = Promise.all([fresh.close(), rows.close(), said.close()]);
    const late = [
      rejection(fresh.search({ vector: query() }), 'CLOSED'),
      rejection(rows.search(query()), 'CLOSED'),
      rejection(rows.searchMany(threeQueries()), 'CLOSED'),
      rejection(said.search('word1'), 'CLOSED'),
    ];
    expect((await Promise.allSettled(asked)).filter(({ status }) => status === 'rejected')).toEqual([]);
    await Promise.all(late);
    await closing;
  });

  test('a search whose signal is aborted is refused, however short it is', async () => {
    const reason = new Error('enough');
    for (const search of [
      (signal: AbortSignal) => storage.search({ vector: query(), signal }),
      (signal: AbortSignal) => index.search(query(), { signal }),
      (signal: AbortSignal) => index.searchMany(threeQueries(), { signal }),
      (signal: AbortSignal) => words.search('word1 plain', { signal }),
    ]) {
      for (let i = 0; i < manyTimes; i++) await search(new AbortController().signal);
      expect(await rejection(search(AbortSignal.abort(reason)), 'CANCELLED')).toMatchObject({
        name: 'AbortError',
        cause: reason,
      });
      const controller = new AbortController();
      const asked = Array.from({ length: 10 }, () => search(controller.signal));
      controller.abort(reason);
      for (const outcome of await Promise.allSettled(asked)) {
        if (outcome.status === 'rejected')
          expect(outcome.reason).toMatchObject({ name: 'AbortError', cause: reason });
      }
    }
  });
});

test('arguments that can never work are refused by name, on either thread', async () => {
  const fresh = await Storage.build(records, vectors, dimension, { fields });
  for (let i = 0; i < manyTimes; i++) {
    const bad = query();
    bad[3] = Number.NaN;
    await rejection(fresh.search({ vector: bad }), 'INVALID_ARGUMENT');
    await rejection(index.search(bad), 'INVALID_ARGUMENT');
    await rejection(index.searchMany(Float32Array.of(...query(), ...bad)), 'INVALID_ARGUMENT');
    for (const length of [0, dimension - 1, 2 * dimension])
      await rejection(index.search(new Float32Array(length)), 'DIMENSION_MISMATCH');
    await fresh.search({ vector: query() });
  }
  await fresh.close();
});

test('the addon itself checks the memory that a short search writes into', () => {
  const { native } = storage as unknown as { native: NativeStorage };
  const usual = { mode: 'dense', fusion: 'rrf' } as const;
  const request = new Float64Array(searchNumbers({ topK: 10 }, usual));
  const now = (...given: unknown[]) => {
    const [numbers = request, vector = query(), found = new Float64Array(1000)] = given;
    return () =>
      native.searchNow(numbers as never, vector as never, undefined, undefined, undefined, found as never);
  };
  expect(now(request, query(), new Float64Array(20))).toThrow('numbers');
  expect(now(request, query(), new Float32Array(1000))).toThrow('Float64Array');
  expect(now(request, query(), {})).toThrow('Float64Array');
  expect(now(request.subarray(0, 11))).toThrow('too few numbers');
  expect(now([0, 10, 0])).toThrow('request');
  expect(now(request, [1, 2, 3])).toThrow('vector');
  for (const [position, values] of [
    [0, [-1, 3, 0.5]],
    [1, [0, 1e9]],
    [3, [-1, 0, 1e9]],
    [4, [-1, 2, 0.5]],
  ] as const) {
    for (const value of values) expect(now(request.with(position, value)), `${position}: ${value}`).toThrow();
  }
  expect(now(request.with(5, Number.POSITIVE_INFINITY))).toThrow('rrf.k');
});

test('and so it does for an index, of one query and of several', () => {
  const { native } = index as unknown as { native: NativeVectorIndex };
  const now = (queries: unknown, k: unknown, found: unknown) => () =>
    native.searchNow(queries as never, k as never, 0, found as never);
  expect(now(query(), 10, new Float64Array(25))).toThrow('numbers');
  expect(now(query(), 10, new Float64Array(26))).not.toThrow();
  expect(now(threeQueries(), 10, new Float64Array(75))).toThrow('numbers');
  expect(now(threeQueries(), 10, new Float64Array(76))).not.toThrow();
  expect(now(threeQueries(), 10, new Float32Array(1000))).toThrow('Float64Array');
  expect(now([1, 2, 3], 10, new Float64Array(100))).toThrow('query');
  for (const k of [0, 0.5, -1, 1e9, Number.NaN]) expect(now(query(), k, new Float64Array(100))).toThrow('k');
});

test('and so it does for a text index', () => {
  const { native } = words as unknown as { native: NativeTextIndex };
  const now = (text: unknown, k: unknown, found: unknown) => () =>
    native.searchNow(text as never, k as never, found as never);
  expect(now('word1', 10, new Float64Array(22))).toThrow('numbers');
  expect(now('word1', 10, new Float32Array(100))).toThrow('Float64Array');
  expect(now(17, 10, new Float64Array(100))).toThrow('query');
  for (const k of [0, 0.5, -1, 1e9, Number.NaN]) expect(now('word1', k, new Float64Array(100))).toThrow('k');
});
