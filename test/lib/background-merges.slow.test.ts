// Merges in the background of a changing storage: the throttle, the end of the storage, cancelling, many and large batches.
import { afterEach, describe, expect, it } from 'vitest';
import { Storage, type StorageRecord, setThrottle } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { repetitions } from '../helpers/repetitions.js';

const dimension = 8;
/** Busy machines merge slowly. */
const soon = { timeout: 60_000 };

/** Looks random, and depends on the seed alone. */
const vectorOf = (seed: number) =>
  Float32Array.from(
    { length: dimension },
    (_, i) => ((Math.sin(seed * 12.9898 + i * 78.233) * 43_758.5453) % 1) + 0.01,
  );

function batchOf(prefix: string, size: number): [StorageRecord[], Float32Array] {
  const vectors = new Float32Array(size * dimension);
  const records = Array.from({ length: size }, (_, i) => {
    vectors.set(vectorOf(i), i * dimension);
    return { id: `${prefix}${i}`, text: `word${i % 50} text of ${prefix}` };
  });
  return [records, vectors];
}

/** A storage of 6,000 records, merging paused, with a merge of all parts due. */
async function withDueMerge(): Promise<Storage> {
  const [records, vectors] = batchOf('r', 6000);
  const storage = await Storage.build(records, vectors, dimension);
  await storage.pauseMerging();
  const [more, rows] = batchOf('n', 2500);
  await storage.update({ add: more }, rows);
  await storage.update({ remove: records.slice(0, 100).map(({ id }) => id) });
  expect(storage.merging).toMatchObject({ state: 'due', paused: true, parts: 2 });
  return storage;
}

const query = { mode: 'hybrid', text: 'word7', vector: vectorOf(7), topK: 20 } as const;

describe('background merges', () => {
  afterEach(() => setThrottle(0));

  it('wait while a throttle is set, and begin when it ends', async () => {
    await using storage = await withDueMerge();
    setThrottle(0.1);
    storage.resumeMerging();
    expect(storage.merging).toMatchObject({ state: 'due', paused: false });
    const [more, rows] = batchOf('later', 10);
    await storage.update({ add: more }, rows);
    expect(storage.merging).toMatchObject({ state: 'due', paused: false });
    const before = await storage.search(query);
    setThrottle(0);
    expect(storage.merging.state).toBe('running');
    await expect.poll(() => storage.merging, soon).toMatchObject({ state: 'idle', parts: 1 });
    expect((await storage.search(query)).hits).toEqual(before.hits);
  });

  it('stop when a throttle is set, and begin anew', async () => {
    await using storage = await withDueMerge();
    storage.resumeMerging();
    expect(storage.merging.state).toBe('running');
    setThrottle(1);
    await expect.poll(() => storage.merging.state, soon).toBe('due');
    expect(storage.merging.parts).toBe(2);
    expect(storage.merging.failure).toBeUndefined();
    setThrottle(0);
    await expect.poll(() => storage.merging, soon).toMatchObject({ state: 'idle', parts: 1 });
  });

  it('run on if a throttle comes and goes while they stop', async () => {
    await using storage = await withDueMerge();
    storage.resumeMerging();
    for (const level of [1, 0, 0.5, 0]) setThrottle(level);
    await expect.poll(() => storage.merging, soon).toMatchObject({ state: 'idle', parts: 1 });
  });

  it('stay paused by pauseMerging() when a throttle ends', async () => {
    await using storage = await withDueMerge();
    storage.resumeMerging();
    setThrottle(1);
    await storage.pauseMerging();
    setThrottle(0);
    expect(storage.merging).toMatchObject({ state: 'due', paused: true });
  });

  it('end with the storage', async () => {
    const storage = await withDueMerge();
    storage.resumeMerging();
    expect(storage.merging.state).toBe('running');
    const closed = storage.close();
    await rejection(storage.search(query), 'CLOSED');
    await closed;
    await storage.close();
  });
});

describe('a merge that is cancelled', () => {
  it('leaves the storage as it was, at whatever moment', async () => {
    await using storage = await withDueMerge();
    const before = await storage.search(query);
    const moments = repetitions('CANCELLED_MERGES', 3, 60);
    let cancelled = 0;
    for (let i = 0; i < moments && storage.merging.parts > 1; i++) {
      const stop = new AbortController();
      const merge = storage.merge({ signal: stop.signal }).catch((error: unknown) => error);
      // The merge is then somewhere between its first and its last step.
      for (let step = 0; step < i % 6; step++) await storage.search(query);
      stop.abort();
      const error = await merge;
      if (error === undefined) break;
      cancelled++;
      expect(storage.merging.parts).toBe(2);
      expect((await storage.search(query)).hits).toEqual(before.hits);
    }
    expect(cancelled).toBeGreaterThan(0);
    await storage.merge();
    expect(storage.merging.parts).toBe(1);
    expect((await storage.search(query)).hits).toEqual(before.hits);
  });
});

describe('batches', () => {
  it('of one record, many of them, leave few parts and every record', async () => {
    const batches = repetitions('TINY_BATCHES', 3000, 10_000);
    await using storage = await Storage.empty(dimension);
    const vector = vectorOf(1);
    for (let i = 0; i < batches; i++)
      await storage.update({ add: [{ id: `t${i}`, text: `tiny w${i % 1000}` }] }, vector);
    expect(storage).toMatchObject({ size: batches, version: batches });
    await expect.poll(() => storage.merging.state, soon).toBe('idle');
    expect(storage.merging.parts).toBeLessThan(40);
    const { hits } = await storage.search({ mode: 'lexical', text: 'w999', topK: 3 });
    expect(hits.map(({ id }) => id)).toEqual(['t999', 't1999', 't2999']);
    expect((await storage.get(`t${batches - 1}`))?.text).toBe(`tiny w${(batches - 1) % 1000}`);
  });

  const megabytes = repetitions('MEGABYTES', 16, 64);

  it(`of ${megabytes} MiB are applied whole`, async () => {
    await using storage = await Storage.empty(dimension);
    const [records, vectors] = batchOf('large', megabytes);
    const filler = 'lorem ipsum dolor sit amet '.repeat(2 ** 20 / 27);
    const large = records.map((record, i) => ({ ...record, text: `${record.text} unique${i} ${filler}` }));
    expect(large.reduce((bytes, { text }) => bytes + text.length, 0)).toBeGreaterThan(
      megabytes * (2 ** 20 - 27),
    );
    const size = megabytes;
    expect(await storage.update({ add: large }, vectors)).toMatchObject({ added: size, version: 1, size });
    const last = megabytes - 1;
    const { hits } = await storage.search({ mode: 'lexical', text: `unique${last}` });
    expect(hits.map(({ id }) => id)).toEqual([`large${last}`]);
    const remove = ['large0', `large${last}`];
    expect(await storage.update({ remove })).toMatchObject({ size: size - 2, version: 2 });
  });

  it('so large that they need a graph get one in the background', async () => {
    await using storage = await Storage.empty(dimension);
    await storage.pauseMerging();
    const [records, vectors] = batchOf('r', 5000);
    await storage.update({ add: records }, vectors);
    const truth = await storage.search({ mode: 'dense', vector: vectorOf(3), topK: 5 });
    expect(truth.plan).toMatchObject({ dense: { path: 'exact' } });
    expect(storage.merging).toMatchObject({ state: 'due', parts: 1 });
    storage.resumeMerging();
    await expect.poll(() => storage.merging.state, soon).toBe('idle');
    const found = await storage.search({ mode: 'dense', vector: vectorOf(3), topK: 5 });
    expect(found.plan).toMatchObject({ dense: { path: 'graph' } });
    expect(found.hits.map(({ score }) => score)).toEqual(truth.hits.map(({ score }) => score));
  });
});
