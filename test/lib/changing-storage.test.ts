import { describe, expect, it, vi } from 'vitest';
import { LorekeepError, Storage, type StorageRecord } from '../../lib/index.js';

const dimension = 4;
const fields = [
  { name: 'year', type: 'int', optional: true },
  { name: 'title', type: 'string', default: 'untitled' },
] as const;

function record(id: string, text = `text of ${id}`, year?: number): StorageRecord {
  return { id, text, metadata: year === undefined ? {} : { year } };
}

/** A vector that depends on the seed. */
const vectorOf = (seed: number) =>
  Float32Array.from({ length: dimension }, (_, i) => Math.sin(seed * 7 + i * 3) + 0.1);

function vectorsOf(seeds: readonly number[]): Float32Array {
  const all = new Float32Array(seeds.length * dimension);
  for (const [at, seed] of seeds.entries()) all.set(vectorOf(seed), at * dimension);
  return all;
}

const build = (ids: readonly string[]) =>
  Storage.build(
    ids.map((id) => record(id)),
    vectorsOf(ids.map((_, index) => index)),
    dimension,
    { fields },
  );

const idsOf = async (storage: Storage) => (await storage.list()).map(({ id }) => id);

async function codeOf(call: Promise<unknown>): Promise<[string, unknown] | undefined> {
  try {
    await call;
    return undefined;
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error;
    return [error.code, 'ids' in error.detail ? error.detail.ids : undefined];
  }
}

describe('a storage that changes', () => {
  it('does not hold a thread of searches while it removes or merges long texts', async () => {
    const ids = Array.from({ length: 300 }, (_, n) => `r${n}`);
    const long = (id: string) => record(id, `${id} lantern `.repeat(10_000));
    await using storage = await Storage.build(ids.map(long), vectorsOf(ids.map((_, n) => n)), dimension, {
      fields,
    });
    expect((await storage.update({ remove: ids.slice(0, 290) })).size).toBe(10);
    for (const [n, id] of ['x', 'y', 'z'].entries()) await storage.update({ add: [long(id)] }, vectorOf(n));
    expect(await idsOf(storage)).toEqual([...ids.slice(290), 'x', 'y', 'z']);
  });

  it('does not hold a thread while texts of very many different words are added, merged and removed', async () => {
    const words = 80_000;
    const wide = (id: string) => record(id, Array.from({ length: words }, (_, n) => `${id}x${n}`).join(' '));
    const ids = Array.from({ length: 8 }, (_, n) => `w${n}`);
    await using storage = await Storage.build(ids.slice(0, 4).map(wide), vectorsOf([0, 1, 2, 3]), dimension, {
      fields,
    });
    await storage.update({ add: ids.slice(4).map(wide) }, vectorsOf([4, 5, 6, 7]));
    await storage.update({ remove: ids.slice(1) });
    await storage.update({ add: [wide('again')] }, vectorOf(9));
    expect(await idsOf(storage)).toEqual(['w0', 'again']);
    const { hits } = await storage.search({ mode: 'lexical', text: `againx${words - 1}` });
    expect(hits.map(({ id }) => id)).toEqual(['again']);
  });

  it('adds, replaces and removes records in one batch, and says which version a search saw', async () => {
    await using storage = await build(['a', 'b', 'c']);
    expect(storage.version).toBe(0);
    const changes = {
      add: [record('d', 'a lantern', 1999)],
      replace: [record('a', 'a lamp')],
      remove: ['b'],
    };
    expect(await storage.update(changes, vectorsOf([10, 11]))).toEqual({
      version: 1,
      added: 1,
      replaced: 1,
      removed: 1,
      size: 3,
    });
    expect(await idsOf(storage)).toEqual(['c', 'd', 'a']);
    const found = await storage.search({ mode: 'hybrid', text: 'lantern', vector: vectorOf(10), topK: 2 });
    expect(found.version).toBe(1);
    expect(found.hits[0]).toMatchObject({ id: 'd', ordinal: 1, metadata: { year: 1999, title: 'untitled' } });
    expect(await storage.get('b')).toBeUndefined();
    expect((await storage.get('a'))?.text).toBe('a lamp');
    expect(await storage.count({ filter: { '>': [{ knowledge: 'year' }, 1990] } })).toBe(1);
    expect(await storage.embedding('b')).toBeUndefined();
    const highlighted = await storage.search({ mode: 'lexical', text: 'lamp', highlight: true });
    expect(highlighted.hits[0]?.highlights).toEqual([[2, 6]]);
  });

  it('refuses a batch whole and names the ids', async () => {
    await using storage = await build(['a', 'b']);
    const one = vectorsOf([1]);
    expect(await codeOf(storage.update({ add: [record('a')] }, one))).toEqual(['RECORD_EXISTS', ['a']]);
    expect(await codeOf(storage.update({ replace: [record('x')], remove: ['a', 'y'] }, one))).toEqual([
      'RECORD_MISSING',
      ['x', 'y'],
    ]);
    expect(await codeOf(storage.update({ add: [record('n')], remove: ['n'] }, one))).toEqual([
      'DUPLICATE_ID',
      ['n'],
    ]);
    expect(await codeOf(storage.update({ remove: ['a'], ifVersion: 3 }))).toEqual([
      'VERSION_MISMATCH',
      undefined,
    ]);
    expect(await codeOf(storage.update({ add: [record('n')] }))).toEqual(['DIMENSION_MISMATCH', undefined]);
    const nan = new Float32Array(dimension).fill(Number.NaN);
    expect(await codeOf(storage.update({ add: [record('n')] }, nan))).toEqual([
      'INVALID_ARGUMENT',
      undefined,
    ]);
    const unknown = { added: [] } as object;
    expect(await codeOf(storage.update(unknown))).toEqual(['INVALID_ARGUMENT', undefined]);
    expect(storage.version).toBe(0);
    expect(await storage.update({})).toMatchObject({ version: 0, size: 2 });
    const upserted = await storage.update(
      { add: [record('a'), record('n')], upsert: true },
      vectorsOf([1, 2]),
    );
    expect(upserted).toMatchObject({ version: 1, added: 1, replaced: 1, size: 3 });
  });

  it('stays usable when it is emptied, and can begin empty', async () => {
    await using storage = await build(['a']);
    expect(await storage.update({ remove: ['a'] })).toMatchObject({ size: 0 });
    const vector = vectorOf(0);
    const queries = [
      { mode: 'dense', vector },
      { mode: 'lexical', text: 'a' },
      { mode: 'hybrid', text: 'a', vector },
    ] as const;
    for (const query of queries) expect(await storage.search(query)).toMatchObject({ hits: [], version: 1 });
    await storage.update({ add: [record('a')] }, vectorsOf([0]));
    expect(await idsOf(storage)).toEqual(['a']);
    await using empty = await Storage.empty(dimension, { fields });
    expect(empty.size).toBe(0);
    expect((await empty.search({ mode: 'lexical', text: 'a' })).hits).toEqual([]);
    await empty.update({ add: [record('z', 'zebra', 5)] }, vectorsOf([0]));
    expect((await empty.search({ mode: 'lexical', text: 'zebra' })).hits[0]?.metadata?.year).toBe(5);
  });

  it('keeps older versions and pinned ones as they were', async () => {
    await using storage = await build(['a']);
    storage.keepVersions({ count: 2 });
    for (let i = 1; i <= 4; i++) await storage.update({ add: [record(`n${i}`)] }, vectorsOf([i]));
    expect(storage.versions().map(({ version, size }) => [version, size])).toEqual([
      [2, 3],
      [3, 4],
      [4, 5],
    ]);
    await using second = storage.at(2);
    await using pinned = storage.pin();
    await storage.merge();
    await storage.update({ remove: ['a', 'n1'] });
    expect(await idsOf(second)).toEqual(['a', 'n1', 'n2']);
    expect(await idsOf(pinned)).toEqual(['a', 'n1', 'n2', 'n3', 'n4']);
    expect(await idsOf(storage)).toEqual(['n2', 'n3', 'n4']);
    expect(await codeOf(pinned.update({ remove: ['a'] }))).toEqual(['UNSUPPORTED', undefined]);
    expect(() => storage.at(1)).toThrow(expect.objectContaining({ code: 'VERSION_GONE' }));
    storage.keepVersions({});
    expect(() => storage.at(4)).toThrow(expect.objectContaining({ code: 'VERSION_GONE' }));
  });

  it('keeps versions no longer than their age, also when nothing changes any more', async () => {
    await using storage = await build(['a', 'b', 'c']);
    storage.keepVersions({ count: 5, age: 1 });
    await storage.update({ remove: ['c'] });
    await vi.waitFor(() => expect(storage.versions()).toMatchObject([{ version: 1 }]));
    expect(() => storage.at(0)).toThrow(expect.objectContaining({ code: 'VERSION_GONE' }));
    expect(await idsOf(storage)).toEqual(['a', 'b']);
  });

  it('forgets records in every version', async () => {
    await using storage = await build(['a', 'b', 'c']);
    storage.keepVersions({ count: 5 });
    await storage.update({ remove: ['c'] });
    expect(await storage.forget(['b'])).toMatchObject({ version: 2, removed: 1, size: 1 });
    expect(await codeOf(storage.forget(['b']))).toEqual(['RECORD_MISSING', ['b']]);
    await storage.forget(['b', 'c'], { missingIsFine: true });
    await using first = storage.at(0);
    expect(await idsOf(first)).toEqual(['a']);
    expect((await first.search({ mode: 'lexical', text: 'b' })).hits).toEqual([]);
  });

  it('forgets a record that only older versions have', async () => {
    await using storage = await build(['a', 'b', 'c']);
    storage.keepVersions({ count: 5 });
    await storage.update({ remove: ['b'] });
    expect(await codeOf(storage.forget(['b', 'x']))).toEqual(['RECORD_MISSING', ['b', 'x']]);
    expect(await codeOf(storage.forget(['b', 'b']))).toEqual(['DUPLICATE_ID', ['b']]);
    expect(await storage.forget(['b'])).toMatchObject({ version: 1, removed: 1, size: 2 });
    await using first = storage.at(0);
    expect(await idsOf(first)).toEqual(['a', 'c']);
    expect(await codeOf(storage.forget(['b']))).toEqual(['RECORD_MISSING', ['b']]);
  });

  it('applies batches in the order of the calls while searches see whole versions', async () => {
    await using storage = await build(['a', 'b']);
    const writes: Promise<unknown>[] = [];
    const searches: Promise<{ version: number; count: number }>[] = [];
    for (let i = 0; i < 60; i++) {
      // Each version holds two more records.
      writes.push(
        storage.update({ add: [record(`x${i}`, 'pair'), record(`y${i}`, 'pair')] }, vectorsOf([i, -i])),
      );
      searches.push(
        storage
          .search({ mode: 'lexical', text: 'pair', topK: 200 })
          .then(({ version, hits }) => ({ version, count: hits.length })),
      );
    }
    for (const { version, count } of await Promise.all(searches)) expect(count).toBe(2 * version);
    await Promise.all(writes);
    expect(storage.version).toBe(60);
    expect((await idsOf(storage)).slice(2, 6)).toEqual(['x0', 'y0', 'x1', 'y1']);
  });

  it('merges in the background unless paused, without changing a result', async () => {
    await using storage = await build(['a']);
    await storage.pauseMerging();
    const many = Array.from({ length: 3000 }, (_, i) => i);
    await storage.update({ add: many.map((i) => record(`m${i}`, `word${i % 50}`)) }, vectorsOf(many));
    const more = many.slice(0, 1000);
    await storage.update({ add: more.map((i) => record(`n${i}`, `word${i % 50}`)) }, vectorsOf(more));
    expect(storage.merging).toMatchObject({ state: 'due', paused: true, parts: 3 });
    const query = { mode: 'hybrid', text: 'word7', vector: vectorOf(7), topK: 20, exact: true } as const;
    const before = await storage.search(query);
    storage.resumeMerging();
    await expect.poll(() => storage.merging, { timeout: 60_000 }).toMatchObject({ state: 'idle', parts: 1 });
    expect((await storage.search(query)).hits).toEqual(before.hits);
    expect(storage.version).toBe(2);
  });
});
