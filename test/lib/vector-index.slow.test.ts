import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VectorIndex } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { clusteredVectors, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';

const folder = temporaryFolder();
const dimension = 384;
/** Rows of the large index. */
const rows = repetitions('ROWS', 20_000, 50_000);

/** Share of the true k nearest that were found, over all queries. */
async function recallAt10(index: VectorIndex, queries: Float32Array, ef: number): Promise<number> {
  const truth = await index.searchMany(queries, { k: 10, exact: true });
  const found = await index.searchMany(queries, { k: 10, ef });
  let hits = 0;
  for (const [query, expected] of truth.entries()) {
    const wanted = new Set(expected.ordinals);
    for (const ordinal of found[query]?.ordinals ?? []) if (wanted.has(ordinal)) hits++;
  }
  return hits / (truth.length * 10);
}

describe('an index of tens of thousands of clustered vectors', () => {
  const queries = clusteredVectors(200, dimension, 500, testSeed);
  let index: VectorIndex;

  beforeAll(async () => {
    index = await VectorIndex.build(clusteredVectors(rows, dimension, 500, testSeed), dimension);
  }, 300_000);
  afterAll(() => index.close());

  test('finds at least 98 % of the ten nearest at ef 64', async () => {
    expect(await recallAt10(index, queries, 64), `seed ${testSeed}`).toBeGreaterThanOrEqual(0.98);
  });

  test('says how it searched', async () => {
    const query = queries.subarray(0, dimension);
    const graph = await index.search(query);
    expect(graph.plan).toMatchObject({ path: 'graph', matched: rows, exact: false });
    expect(graph.plan.visited).toBeLessThan(rows / 2);
    const exact = await index.search(query, { exact: true });
    expect(exact.plan).toMatchObject({ path: 'exact', matched: rows, exact: true });
    expect(exact.plan.visited).toBeGreaterThanOrEqual(rows);
  });

  test.each([2, 10, 100, 1000, 10_000])(
    'returns only rows of a filter of every %i-th, and the right ones',
    async (step) => {
      const matching = rows / step;
      const filter = Uint32Array.from({ length: matching }, (_, i) => i * step);
      let found = 0;
      for (let q = 0; q < 50; q++) {
        const query = queries.subarray(q * dimension, (q + 1) * dimension);
        const truth = await index.search(query, { filter, exact: true });
        const hits = await index.search(query, { filter, ef: 128 });
        expect(hits.ordinals).toHaveLength(Math.min(10, matching));
        expect([...hits.ordinals].every((ordinal) => ordinal % step === 0)).toBe(true);
        expect(hits.plan.matched).toBe(matching);
        const wanted = new Set(truth.ordinals);
        found += [...hits.ordinals].filter((ordinal) => wanted.has(ordinal)).length;
      }
      expect(found / (50 * Math.min(10, matching)), `seed ${testSeed}`).toBeGreaterThanOrEqual(0.98);
    },
  );

  test('survives a round trip through a file, hit for hit', async () => {
    const path = folder('large.lkvec');
    await index.save(path);
    await using loaded = await VectorIndex.load(path);
    expect({ size: loaded.size, dimension: loaded.dimension }).toEqual({ size: rows, dimension });
    expect(await loaded.searchMany(queries)).toEqual(await index.searchMany(queries));
  });

  test('is no memory of the JavaScript heap when it is mapped from a file', async () => {
    const path = folder('mapped.lkvec');
    await index.save(path);
    const before = process.memoryUsage().external;
    await using loaded = await VectorIndex.load(path);
    expect(process.memoryUsage().external - before).toBeLessThan(loaded.memoryBytes / 10);
  });

  test('stops a save when its signal is aborted', async () => {
    const abort = new AbortController();
    const saving = index.save(folder('aborted.lkvec'), { signal: abort.signal });
    abort.abort(new Error('enough'));
    const error = await rejection(saving, 'CANCELLED');
    expect(error.name).toBe('AbortError');
  });
});

describe.each(['f32', 'f16', 'i8'] as const)(
  'an index of %s rows as long as text embeddings',
  (vectorType) => {
    test('is opened from its file and answers as it did', async () => {
      const path = folder(`${vectorType}.lkvec`);
      await using index = await VectorIndex.build(
        clusteredVectors(1000, dimension, 10, testSeed),
        dimension,
        { vectorType },
      );
      await index.save(path);
      await using loaded = await VectorIndex.load(path);
      const queries = clusteredVectors(5, dimension, 10, testSeed);
      const filter = Uint32Array.from({ length: 500 }, (_, i) => 2 * i);
      for (const options of [{}, { filter }, { exact: true }])
        expect(await loaded.searchMany(queries, options)).toEqual(await index.searchMany(queries, options));
    });
  },
);

describe('a small index', () => {
  const rows = clusteredVectors(200, 16, 4, testSeed);

  test('built on one thread from the same data and seed gives the same file', async () => {
    for (const name of ['a', 'b']) {
      await using index = await VectorIndex.build(rows, 16, { threads: 1, seed: 7 });
      await index.save(folder(`${name}.lkvec`));
    }
    expect(readFileSync(folder('a.lkvec')).equals(readFileSync(folder('b.lkvec')))).toBe(true);
  });

  test('gives every row when k is larger than the index', async () => {
    await using index = await VectorIndex.build(rows, 16);
    const hits = await index.search(rows.subarray(0, 16), { k: 500 });
    expect([...hits.ordinals].sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i));
  });

  test('breaks ties by row order', async () => {
    const same = new Float32Array(8 * 4).fill(0.5);
    await using index = await VectorIndex.build(same, 4);
    expect([...(await index.search(same.subarray(0, 4), { k: 8 })).ordinals]).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7,
    ]);
  });

  test('gives a zero row distance 1 to everything', async () => {
    await using index = await VectorIndex.build(new Float32Array([0, 0, 1, 0, 0, 1]), 2, { kind: 'flat' });
    const hits = await index.search(new Float32Array([1, 0]), { k: 3 });
    expect([...hits.ordinals]).toEqual([1, 0, 2]);
    expect([...hits.distances]).toEqual([0, 1, 1]);
  });

  test('may be empty', async () => {
    await using index = await VectorIndex.build(new Float32Array(0), 8);
    expect((await index.search(new Float32Array(8).fill(1))).ordinals).toHaveLength(0);
  });

  test('reports progress that does not decrease and ends with 1', async () => {
    const seen: number[] = [];
    await using index = await VectorIndex.build(rows, 16, { onProgress: (fraction) => seen.push(fraction) });
    expect(index.size).toBe(200);
    expect(seen.at(-1)).toBe(1);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  test('ends the build with what a progress callback throws', async () => {
    const oops = new Error('from the callback');
    await expect(
      VectorIndex.build(rows, 16, {
        onProgress: () => {
          throw oops;
        },
      }),
    ).rejects.toBe(oops);
  });

  test('is not built for a signal that was aborted before', async () => {
    await rejection(VectorIndex.build(rows, 16, { signal: AbortSignal.abort() }), 'CANCELLED');
  });
});

describe('a build', () => {
  test('stops soon after its signal is aborted', async () => {
    const rows = clusteredVectors(20_000, 64, 50, testSeed);
    const abort = new AbortController();
    const building = VectorIndex.build(rows, 64, {
      signal: abort.signal,
      onProgress: () => abort.abort(),
    });
    await rejection(building, 'CANCELLED');
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses a row that holds %s and names it',
    async (bad) => {
      const rows = new Float32Array([1, 0, 0, bad, 0, 1]);
      const error = await rejection(VectorIndex.build(rows, 2), 'INVALID_ARGUMENT');
      expect(error.message).toMatch(/\b1\b/);
    },
  );

  test('refuses numbers that are not whole rows', async () => {
    await rejection(VectorIndex.build(new Float32Array(7), 2), 'DIMENSION_MISMATCH');
  });

  test.each([
    ['dimension 0', () => VectorIndex.build(new Float32Array(4), 0)],
    ['dimension 1.5', () => VectorIndex.build(new Float32Array(4), 1.5)],
    ['an ordinary array', () => VectorIndex.build([1, 2] as unknown as Float32Array, 2)],
    ['m 1', () => VectorIndex.build(new Float32Array(4), 2, { m: 1 })],
    ['an unknown kind', () => VectorIndex.build(new Float32Array(4), 2, { kind: 'tree' as 'flat' })],
  ])('refuses %s', async (_, build) => {
    await rejection(build(), 'INVALID_ARGUMENT');
  });
});

describe('a search', () => {
  test.each([
    ['k 0', { k: 0 }],
    ['k of a million', { k: 1_000_000 }],
    ['ef 0', { ef: 0 }],
    ['a filter outside the index', { filter: Uint32Array.of(4) }],
  ])('refuses %s', async (_, options) => {
    await using index = await VectorIndex.build(new Float32Array([1, 0, 0, 1]), 2);
    await rejection(index.search(new Float32Array([1, 0]), options), 'INVALID_ARGUMENT');
  });

  test('refuses a query of another dimension', async () => {
    await using index = await VectorIndex.build(new Float32Array([1, 0, 0, 1]), 2);
    await rejection(index.search(new Float32Array(3)), 'DIMENSION_MISMATCH');
    await rejection(index.search(new Float32Array(0)), 'DIMENSION_MISMATCH');
  });
});

describe('a file', () => {
  test('that is absent is NOT_FOUND and named', async () => {
    const error = await rejection(VectorIndex.load(folder('absent.lkvec')), 'NOT_FOUND');
    expect(error.message).toContain('absent.lkvec');
  });

  test.each([0, 1, 47, 48, 100, 1000])('cut to %i bytes is CORRUPT', async (size) => {
    const path = folder(`cut-${size}.lkvec`);
    await using index = await VectorIndex.build(clusteredVectors(50, 8, 2, testSeed), 8);
    await index.save(path);
    truncateSync(path, size);
    await rejection(VectorIndex.load(path), 'CORRUPT');
  });

  test('with one flipped bit anywhere is CORRUPT', async () => {
    await using index = await VectorIndex.build(clusteredVectors(50, 8, 2, testSeed), 8);
    const path = folder('flip.lkvec');
    await index.save(path);
    const original = readFileSync(path);
    const loaded = await VectorIndex.load(path);
    const truth = await loaded.search(new Float32Array(8).fill(1));
    await loaded.close();
    for (let offset = 0; offset < original.length; offset += 37) {
      const bytes = Buffer.from(original);
      bytes[offset] = (bytes[offset] as number) ^ 16;
      writeFileSync(path, bytes);
      const outcome = await VectorIndex.load(path).then(
        async (index) => {
          const hits = await index.search(new Float32Array(8).fill(1));
          await index.close();
          return hits; // a flip in the padding between sections harms nothing
        },
        (error: { code: string }) => error.code,
      );
      expect(typeof outcome === 'string' ? ['CORRUPT', 'UNSUPPORTED'] : [truth]).toContainEqual(outcome);
    }
  });

  test('in a folder that does not exist cannot be written', async () => {
    await using index = await VectorIndex.build(new Float32Array([1, 0]), 2);
    const error = await rejection(index.save(folder('no', 'such', 'folder.lkvec')), 'IO');
    expect(error.message).toContain('folder.lkvec');
  });

  test('may be replaced while an index reads from it', async () => {
    const path = folder('replaced.lkvec');
    const rows = clusteredVectors(500, 8, 2, testSeed);
    await using index = await VectorIndex.build(rows, 8);
    await index.save(path);
    await using loaded = await VectorIndex.load(path);
    const before = await loaded.search(rows.subarray(0, 8));
    await using other = await VectorIndex.build(rows.subarray(0, 80), 8);
    await other.save(path);
    expect(await loaded.search(rows.subarray(0, 8))).toEqual(before);
  });

  test('of another program is refused by name', async () => {
    const path = folder('other.bin');
    const file = openSync(path, 'w');
    writeSync(file, Buffer.alloc(4096, 7));
    closeSync(file);
    const error = await rejection(VectorIndex.load(path), 'CORRUPT');
    expect(error.message).toContain('other.bin');
    expect((await rejection(VectorIndex.importHnswlib(path, 8), 'CORRUPT')).message).toContain('other.bin');
  });
});
