import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { inspectFile, TextIndex, VectorIndex } from '../../lib/index.js';

// Frozen samples: a file of every format version that was ever written. They are never made again.
const sample = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Row i of the index samples. */
const row = (i: number, dimension: number) =>
  Float32Array.from({ length: dimension }, (_, j) => Math.sin((i + 1) * (j + 1)));

test.each([
  ['index-1.index', 1, 'f32', 64, 5],
  ['index-2-i8.index', 2, 'i8', 64, 2], // rows of 8 bits: the version had no others
  ['index-3-i8.index', 3, 'i8', 64, 5],
  ['index-4.index', 4, 'f32', 192, 5], // with sketches of each row
  ['index-6.index', 6, 'f32', 64, 5], // with a calibration
])('%s, an index file of version %s, is read', async (name, version, vectorType, dimension, digits) => {
  expect(await inspectFile(sample(name))).toMatchObject({
    kind: 'index',
    version,
    vectorType,
    rows: 24,
    dimension,
  });
  await using index = await VectorIndex.load(sample(name), {
    dimension,
    fingerprint: '0123456789abcdef',
  });
  for (let i = 0; i < index.size; i++) {
    const { ordinals, distances } = await index.search(row(i, dimension), { k: 1 });
    expect([ordinals[0], distances[0]]).toEqual([i, expect.closeTo(0, digits)]);
  }
});

test('an index file of version 5 is read, and its cells are searched', async () => {
  const name = 'index-5-i8.index';
  const scattered = (i: number) =>
    Float32Array.from({ length: 64 }, (_, j) => {
      const mixed = Math.imul(i * 64 + j + 1, 0x9e3779b1);
      return Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) / 2 ** 31;
    });
  expect(await inspectFile(sample(name))).toMatchObject({
    kind: 'index',
    version: 5,
    vectorType: 'i8',
    rows: 2100,
  });
  await using index = await VectorIndex.load(sample(name), {
    dimension: 64,
    fingerprint: '0123456789abcdef',
  });
  const filter = Uint32Array.from({ length: index.size - 1 }, (_, i) => i);
  for (const i of [0, 700, 2000]) {
    expect([...(await index.search(scattered(i), { k: 1 })).ordinals]).toEqual([i]);
    const { ordinals, plan } = await index.search(scattered(i), { k: 1, filter });
    expect([...ordinals]).toEqual([i]);
    expect(plan).toMatchObject({ path: 'cells', matched: 2099, exact: false });
  }
});

test.each([['text-index-2.bm25', 2]])('a text index file of version %s is read', async (name, version) => {
  expect(await inspectFile(sample(name))).toMatchObject({ kind: 'text index', version, rows: 3 });
  await using index = await TextIndex.load(sample(name));
  expect([...(await index.search('night hive')).ordinals]).toEqual([2, 1, 0]);
});
