import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Storage, type StorageRecord } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';

const records: StorageRecord[] = [
  { id: 'fox', text: 'The quick brown fox jumps over the lazy dog' },
  { id: 'keeper', text: 'A lighthouse keeper counts ships' },
  { id: 'dog', text: 'A dog sleeps in the sun' },
  { id: 'ship', text: 'Ships sail at night' },
];
/** One direction per record, so that distances are known. */
const vectors = new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0.8, 0, 0.6, 0, 0, 0.6, 0, 0.8]);
let storage: Storage;

beforeAll(async () => {
  storage = await Storage.build(records, vectors, 4);
});
afterAll(() => storage.close());

const ids = (result: { hits: { id: string }[] }) => result.hits.map((hit) => hit.id);

describe('a dense search', () => {
  test('orders records by cosine distance', async () => {
    const found = await storage.search({ vector: new Float32Array([1, 0, 0, 0]), topK: 4 });
    expect(ids(found)).toEqual(['fox', 'dog', 'keeper', 'ship']);
    expect(found.hits[1]).toMatchObject({ text: records[2]?.text, ordinal: 2, rank: 2, denseRank: 2 });
    expect(found.hits[1]?.distance).toBeCloseTo(0.2, 6);
    expect(found.hits[1]?.score).toBeCloseTo(0.8, 6);
    expect(found.hits[1]).not.toHaveProperty('bm25Score');
    expect(found.plan.dense).toMatchObject({ path: 'exact', exact: true, matched: 4 });
  });

  test('drops what is farther than the threshold', async () => {
    const vector = new Float32Array([1, 0, 0, 0]);
    expect(ids(await storage.search({ vector, topK: 4, threshold: 0.5 }))).toEqual(['fox', 'dog']);
    expect(ids(await storage.search({ vector, topK: 4, threshold: 0 }))).toEqual(['fox']);
  });
});

test('the floor of the cosines is their mean over the least quarter of the records', async () => {
  const turn = async () => {};
  const vector = new Float32Array([0, 0.6, 0, 0.8]);
  // The cosines are 0, 0.6, 0 and 0.6 * 0.6 + 0.8 * 0.8 = 1.
  const dense = await storage.searchInSlices({ vector, topK: 2 }, turn);
  expect(dense.cosineFloor).toBeCloseTo(0, 6);
  const other = await storage.searchInSlices(
    { vector: new Float32Array([0.6, 0.6, 0.4, 0.3]), text: 'dog' },
    turn,
  );
  // Normalised, the least of them is the fox's.
  expect(other.cosineFloor).toBeCloseTo(0.6 / Math.hypot(0.6, 0.6, 0.4, 0.3), 5);
  expect(await storage.searchInSlices({ mode: 'lexical', text: 'dog' }, turn)).not.toHaveProperty(
    'cosineFloor',
  );
});

describe('a lexical search', () => {
  test('orders records by BM25', async () => {
    const found = await storage.search({ mode: 'lexical', text: 'dog' });
    expect(ids(found)).toEqual(['dog', 'fox']);
    expect(found.hits[0]).toMatchObject({ rank: 1, lexicalRank: 1 });
    expect(found.hits[0]?.bm25Score).toBe(found.hits[0]?.score);
    expect(found.hits[0]).not.toHaveProperty('distance');
    expect(found.plan).toMatchObject({ mode: 'lexical', lexical: { tokens: 1, terms: 1 } });
  });

  test('is the default for a text without a vector, a hybrid search for both', async () => {
    const vector = new Float32Array([1, 0, 0, 0]);
    expect((await storage.search({ text: 'dog' })).plan.mode).toBe('lexical');
    expect((await storage.search({ vector })).plan.mode).toBe('dense');
    expect((await storage.search({ text: 'dog', vector })).plan.mode).toBe('hybrid');
  });

  test('says that a query has no words', async () => {
    const found = await storage.search({ mode: 'lexical', text: '?!' });
    expect(found).toMatchObject({ hits: [], plan: { lexical: { tokens: 0, terms: 0 } } });
  });
});

describe('a hybrid search', () => {
  const query = { mode: 'hybrid', vector: new Float32Array([1, 0, 0, 0]), text: 'ships', topK: 4 } as const;

  test('fuses ranks as 1 / (60 + rank) per leg', async () => {
    const found = await storage.search({ ...query, fusion: 'rrf' });
    expect(found.plan.fusion).toEqual({ method: 'rrf' });
    const byId = new Map(found.hits.map((hit) => [hit.id, hit]));
    // Dense: fox, dog, keeper, ship (the last two tie, in record order). Lexical: ship (shorter), keeper.
    expect(byId.get('keeper')).toMatchObject({ denseRank: 3, lexicalRank: 2 });
    expect(byId.get('keeper')?.score).toBeCloseTo(1 / 63 + 1 / 62, 9);
    expect(byId.get('ship')?.score).toBeCloseTo(1 / 64 + 1 / 61, 9);
    expect(byId.get('fox')?.score).toBeCloseTo(1 / 61, 9);
    expect(byId.get('fox')).toMatchObject({ bm25Score: 0 });
    expect(byId.get('fox')).not.toHaveProperty('lexicalRank');
    expect(found.hits.map((hit) => hit.score)).toEqual(
      found.hits.map((hit) => hit.score).sort((a, b) => b - a),
    );
  });

  test('by default adds normalised scores, weighted as the plan says', async () => {
    const { hits, plan } = await storage.search(query);
    const { dense = 0, lexical = 0 } = plan.fusion?.weights ?? {};
    expect(plan.fusion).toMatchObject({ method: 'scores', weights: { dense: 0.6 } });
    expect(dense + lexical).toBeCloseTo(1, 12);
    const best = Math.max(...hits.map(({ bm25Score = 0 }) => bm25Score));
    for (const { score, denseScore = -1, lexicalScore = -1, bm25Score = 0, relevance } of hits) {
      expect(score).toBeCloseTo(dense * denseScore + lexical * lexicalScore, 12);
      expect(lexicalScore).toBeCloseTo(bm25Score / best, 6);
      expect(relevance).toBeGreaterThanOrEqual(0);
      expect(relevance).toBeLessThanOrEqual(1);
    }
    const background = (1 + 0.8 + 0 + 0) / 4; // mean cosine of the query and the four records; the best is 1
    const dog = hits.find(({ id }) => id === 'dog');
    expect(dog?.denseScore).toBeCloseTo(1 - (dog?.distance ?? 0) / (1 - background), 6);
  });

  test('with feedback ranks its candidates by the query moved towards the best two hits', async () => {
    const { hits: before, plan } = await storage.search(query);
    expect(plan.fusion).not.toHaveProperty('feedback');
    const found = await storage.search({ ...query, feedback: 0.3 });
    expect(found.plan.fusion?.feedback).toEqual({ weight: 0.3, added: 0 });
    const row = (ordinal: number) => vectors.subarray(ordinal * 4, ordinal * 4 + 4);
    const [first, second] = before;
    const sum = (first?.score ?? 0) + (second?.score ?? 0);
    const moved = query.vector.map((value, i) => {
      const [a = 0, b = 0] = [first, second].map(
        (hit) => (hit?.score ?? 0) * (row(hit?.ordinal ?? 0)[i] ?? 0),
      );
      return value + (0.3 * (a + b)) / sum;
    });
    const cosines = records.map(
      (_, ordinal) =>
        row(ordinal).reduce((total, value, i) => total + value * (moved[i] ?? 0), 0) / Math.hypot(...moved),
    );
    const background = cosines.reduce((total, value) => total + value, 0) / 4;
    const best = Math.max(...cosines);
    for (const { ordinal, denseScore, distance, bm25Score } of found.hits) {
      const fallen = (best - (cosines[ordinal] ?? 0)) / (1 - background);
      expect(denseScore).toBeCloseTo(Math.max(0, 1 - fallen), 5);
      const same = before.find((hit) => hit.ordinal === ordinal);
      expect([distance, bm25Score]).toEqual([same?.distance, same?.bm25Score]);
    }
    expect(await storage.search({ ...query, feedback: true })).toEqual(found);
    for (const feedback of [0, false])
      expect((await storage.search({ ...query, feedback })).hits).toEqual(before);
  });

  test('counts the hits that feedback adds', async () => {
    let added = 0;
    for (let angle = 0; angle < 1; angle += 0.05) {
      const vector = new Float32Array([1 - angle, 0.1, angle, 0]);
      const search = { ...query, vector, topK: 1 };
      const [without, withIt] = [
        await storage.search(search),
        await storage.search({ ...search, feedback: 2 }),
      ];
      const count = withIt.plan.fusion?.feedback?.added ?? -1;
      expect(count).toBe(ids(without)[0] === ids(withIt)[0] ? 0 : 1);
      added += count;
    }
    expect(added).toBeGreaterThan(0);
  });

  test.each([
    [{ feedback: 3 }, 'feedback'],
    [{ feedback: 'yes' }, 'feedback'],
    [{ feedback: 1, mode: 'dense' }, 'feedback'],
    [{ fusion: 'scores', rrf: { k: 1 } }, 'rrf'],
    [{ fusion: 'rrf', scores: {} }, 'scores'],
    [{ rrf: {}, scores: {} }, 'scores'],
    [{ fusion: 'best' }, 'fusion'],
    [{ scores: { weight: 1.5 } }, 'scores.weight'],
    [{ scores: { adapt: 'no' } }, 'scores.adapt'],
    [{ highlight: 'yes' }, 'highlight'],
    [{ highlight: 0 }, 'highlight'],
    [{ minScore: 2 }, 'minScore'],
    [{ calibration: 1 }, 'calibration'],
    [{ calibration: null }, 'calibration'],
    [{ calibration: { offset: 21 } }, 'calibration.offset'],
    [{ calibration: { slope: 0 } }, 'calibration.slope'],
    [{ calibration: { slope: Number.NaN } }, 'calibration.slope'],
  ])('refuses %j', async (options, field) => {
    await expect(storage.search({ ...query, ...options } as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      detail: { field },
    });
  });

  test('drops hits below minScore', async () => {
    const { hits } = await storage.search(query);
    const least = [...hits].sort((a, b) => b.relevance - a.relevance)[1]?.relevance ?? 0;
    const kept = await storage.search({ ...query, minScore: least });
    expect(ids(kept).sort()).toEqual(
      hits
        .filter(({ relevance }) => relevance >= least)
        .map(({ id }) => id)
        .sort(),
    );
    expect(kept.hits.length).toBeLessThan(hits.length);
  });

  test('corrects relevance by the calibration, and compares minScore with the result', async () => {
    const odds = (relevance: number) => Math.log(relevance / (1 - relevance));
    const estimated = (await storage.search(query)).hits;
    const calibration = { offset: 2, slope: 0.5 };
    const { hits } = await storage.search({ ...query, calibration });
    expect(ids({ hits })).toEqual(ids({ hits: estimated }));
    for (const [index, { relevance }] of hits.entries())
      expect(odds(relevance)).toBeCloseTo(2 + 0.5 * odds(estimated[index]?.relevance ?? 0), 9);
    const best = Math.max(...estimated.map(({ relevance }) => relevance));
    const kept = await storage.search({ ...query, calibration, minScore: Math.min(1, best + 0.01) });
    expect(kept.hits.length).toBe(hits.filter(({ relevance }) => relevance >= best + 0.01).length);
  });

  test('keeps what only the lexical leg found, whatever the threshold', async () => {
    const found = await storage.search({ ...query, threshold: 0.1 });
    expect(ids(found).sort()).toEqual(['fox', 'keeper', 'ship']);
    const ship = found.hits.find((hit) => hit.id === 'ship');
    expect(ship).not.toHaveProperty('denseRank');
    expect(ship?.distance).toBeCloseTo(1, 6);
  });

  test('obeys weights and k', async () => {
    const weighted = await storage.search({ ...query, rrf: { k: 0, weights: { dense: 0, lexical: 2 } } });
    expect(weighted.hits[0]).toMatchObject({ id: 'ship', score: 2 });
  });
});

describe('a storage', () => {
  test('breaks ties by record order', async () => {
    const twins = Array.from({ length: 5 }, (_, i) => ({ id: `twin-${i}`, text: 'same words' }));
    await using same = await Storage.build(twins, new Float32Array(10).fill(1), 2);
    const vector = new Float32Array([1, 1]);
    for (const mode of ['dense', 'lexical', 'hybrid'] as const) {
      expect(ids(await same.search({ mode, ...(mode !== 'lexical' && { vector }), text: 'words' }))).toEqual(
        twins.map((twin) => twin.id),
      );
    }
  });

  test.each([
    ['no records', () => Storage.build([], new Float32Array(0), 4), /record/],
    ['an empty id', () => Storage.build([{ id: '', text: 'a' }], new Float32Array(4), 4), /id/],
    [
      'an id that occurs twice',
      () => Storage.build([records[0], records[1], records[0]] as StorageRecord[], new Float32Array(12), 4),
      /0 and 2.*fox/,
    ],
    [
      'a text that is no string',
      () => Storage.build([{ id: 'a' } as StorageRecord], new Float32Array(4), 4),
      /text\[0\]/,
    ],
  ])('refuses %s', async (_, build, message) => {
    expect((await rejection(build(), 'INVALID_ARGUMENT')).message).toMatch(message);
  });

  test('refuses another number of vectors than of records', async () => {
    const error = await rejection(Storage.build(records, new Float32Array(12), 4), 'INVALID_ARGUMENT');
    expect(error.message).toMatch(/4.*3|3.*4/s);
  });

  const vector = new Float32Array(4);
  test.each([
    ['an unknown mode', { mode: 'fuzzy' as 'dense', vector }],
    ['a dense search without a vector', {}],
    ['a lexical search without a text', { mode: 'lexical' as const }],
    ['top_k 0', { vector, topK: 0 }],
    ['top_k 1001', { vector, topK: 1001 }],
    ['a negative threshold', { vector, threshold: -1 }],
    ['a threshold above 2', { vector, threshold: 2.5 }],
    [
      'weights that are all zero',
      { ...{ mode: 'hybrid' as const, vector, text: 'a' }, rrf: { weights: { dense: 0, lexical: 0 } } },
    ],
  ])('refuses %s', async (_, options) => {
    await rejection(storage.search(options), 'INVALID_ARGUMENT');
  });

  test.each([
    ['rrf in dense mode', { vector, rrf: { k: 10 } }],
    ['rrf in lexical mode', { text: 'dog', rrf: {} }],
    ['a threshold in lexical mode', { text: 'dog', threshold: 0.5 }],
    ['ef in lexical mode', { text: 'dog', ef: 100 }],
    ['a vector in lexical mode', { mode: 'lexical' as const, vector, text: 'dog' }],
  ])('refuses %s, where it has no effect', async (_, options) => {
    const error = await rejection(storage.search(options), 'INVALID_ARGUMENT');
    expect(error.message).toMatch(/^(rrf|threshold|ef|vector): it has no effect in (dense|lexical) mode/);
  });

  test('refuses variables without a filter', async () => {
    const variables = { who: 'Bo' };
    for (const refused of [
      () => storage.search({ vector, variables }),
      () => storage.count({ variables }),
      () => storage.list({ variables }),
    ]) {
      const error = await rejection(refused(), 'INVALID_ARGUMENT');
      expect(error.message).toMatch(/^variables: it has no effect without a filter/);
      expect(error.detail).toMatchObject({ field: 'variables' });
    }
  });

  test.each([
    ['no options', undefined],
    ['null', null],
    ['a controller in place of its signal', { vector, signal: new AbortController() }],
  ])('refuses %s', async (_, options) => {
    await rejection(storage.search(options as never), 'INVALID_ARGUMENT');
  });

  test('refuses a vector of another dimension', async () => {
    await rejection(storage.search({ vector: new Float32Array(8) }), 'DIMENSION_MISMATCH');
  });
});

test('metadata fields may be called whatever an object inherits, and hold a NUL', async () => {
  const names = ['__proto__', 'constructor', 'a\0b', ''.padEnd(300, 'é')];
  const fields = names.map((name) => ({ name, type: 'set<string>', optional: true }) as const);
  const full = Object.fromEntries(names.map((name) => [name, [name]]));
  const records = [
    { id: 'full', text: 'full', metadata: full },
    { id: 'none', text: 'none', metadata: {} },
  ];
  await using odd = await Storage.build(records, new Float32Array([1, 0]), 1, { fields });
  for (const name of names) {
    const filter = { in: [name, { knowledge: name }] } as const;
    const { hits } = await odd.search({ vector: new Float32Array([1]), filter });
    expect(hits.map(({ metadata }) => Object.entries(metadata ?? {}))).toEqual([Object.entries(full)]);
  }
  const { hits } = await odd.search({ vector: new Float32Array([1]) });
  expect(Object.keys(hits[1]?.metadata ?? {})).toEqual([]);
});
