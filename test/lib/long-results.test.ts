import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NativeHitReader, NativeStorage } from '../../lib/boundary/native.js';
import { searchNumbers } from '../../lib/boundary/options.gen.js';
import { Storage, type StorageSearchOptions } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { random } from '../helpers/random.js';

const dimension = 8;
const count = 1500;
const next = random(5);
const vectors = Float32Array.from({ length: count * dimension }, () => next() - 0.5);
const fields = [
  { name: 'year', type: 'int', optional: true },
  { name: 'tags', type: 'set<string>', optional: true },
] as const;
const records = Array.from({ length: count }, (_, i) => ({
  id: `record-${i}`,
  text: i % 5 === 0 ? `Größe ${i} 🦊 honey` : `honey of word${i % 17} ${i}`,
  metadata: { ...(i % 3 > 0 && { year: i }), ...(i % 4 > 0 && { tags: ['a', `tag ${i % 9}`] }) },
}));

let storage: Storage;
beforeAll(async () => {
  storage = await Storage.build(records, vectors, dimension, { fields, threads: 1, seed: 1 });
});
afterAll(() => storage.close());

const long: StorageSearchOptions = { mode: 'lexical', text: 'honey', topK: 1000 };

describe('a result of many hits', () => {
  test('begins as one of few hits does, and each hit is its record', async () => {
    const { hits } = await storage.search(long);
    const few = await storage.search({ ...long, topK: 20 });
    expect(hits).toHaveLength(1000);
    expect(hits.slice(0, 20)).toEqual(few.hits);
    for (const [at, { ordinal, id, text, metadata, rank }] of hits.entries()) {
      expect({ id, text, metadata }).toEqual(records[ordinal]);
      expect(rank).toBe(at + 1);
    }
  });

  test('is not converted before its turn', async () => {
    const turns: (() => void)[] = [];
    let found = false;
    const searching = storage
      .searchInSlices(long, () => new Promise<void>((resolve) => turns.push(resolve)))
      .then((result) => {
        found = true;
        return result;
      });
    while (turns.length === 0) await turnOfLoop();
    for (let i = 0; i < 5; i++) await turnOfLoop();
    expect(found).toBe(false);
    let asked = 0;
    while (!found) {
      for (const resolve of turns.splice(0)) {
        asked++;
        resolve();
      }
      await turnOfLoop();
    }
    expect(asked).toBeGreaterThanOrEqual(1);
    expect(await searching).toMatchObject(await storage.search(long));
  });

  test('is given up if its search is cancelled between two turns', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const turn = async () => controller.abort(reason);
    const searching = storage.searchInSlices({ ...long, signal: controller.signal }, turn);
    expect(await rejection(searching, 'CANCELLED')).toMatchObject({ name: 'AbortError', cause: reason });
  });

  test('is waited for by close()', async () => {
    const own = await Storage.build(records, vectors, dimension, { fields, threads: 1, seed: 1 });
    const turns: (() => void)[] = [];
    const searching = own.searchInSlices(long, () => new Promise<void>((resolve) => turns.push(resolve)));
    while (turns.length === 0) await turnOfLoop();
    let closed = false;
    const closing = own.close().then(() => {
      closed = true;
    });
    await turnOfLoop();
    expect(closed).toBe(false);
    let done = false;
    void searching.then(() => {
      done = true;
    });
    while (!done) {
      for (const resolve of turns.splice(0)) resolve();
      await turnOfLoop();
    }
    expect((await searching).hits).toHaveLength(1000);
    await closing;
  });

  test('of a few long texts is not converted at once either', async () => {
    const texts = ['a', 'b', 'c'].map((name) => `honey ${name}${' '.repeat(200 * 1024)}.`);
    const given = texts.map((text, i) => ({ id: `${i}`, text }));
    await using own = await Storage.build(given, vectors.subarray(0, 3 * dimension), dimension, {
      threads: 1,
    });
    for (const mode of ['lexical', 'dense'] as const) {
      const vector = mode === 'dense' ? vectors.subarray(0, dimension) : undefined;
      const options = { mode, text: 'honey', vector, topK: 3 };
      // After a few the library knows that such searches are short, and runs them on this thread.
      for (let time = 0; time < 40; time++) {
        let turns = 0;
        const { hits } = await own.searchInSlices(options, async () => turns++);
        expect(turns).toBeGreaterThan(0);
        expect(hits.map(({ ordinal, text }) => text === texts[ordinal])).toEqual([true, true, true]);
      }
    }
  });

  test('of few hits asks for no turn', async () => {
    const never = () => Promise.reject(new Error('a turn was asked for'));
    const { hits } = await storage.searchInSlices({ ...long, topK: 20 }, never);
    expect(hits).toHaveLength(20);
  });
});

describe('the reader of the addon', () => {
  const read = async (): Promise<[Float64Array, NativeHitReader]> => {
    const { native } = storage as unknown as { native: NativeStorage };
    const request = new Float64Array(searchNumbers({ topK: 500 }, { mode: 'lexical', fusion: 'rrf' }));
    return native.search(request, undefined, 'honey', undefined, undefined, undefined);
  };

  test('reads any part, in any order and again', async () => {
    const [numbers, readHits] = await read();
    const [ids, again] = [readHits(numbers, 490, 500), readHits(numbers, 490, 500)];
    expect(ids).toEqual(again);
    expect(readHits(numbers, 0, 0)).toEqual([]);
  });

  test('refuses parts that are none, short arrays, and use after its release', async () => {
    const [numbers, readHits] = await read();
    for (const [begin, end] of [
      [-1, 5],
      [5, 4],
      [0, 501],
      [0.5, 2],
      [Number.NaN, 2],
    ] as const)
      expect(() => readHits(numbers, begin, end), `${begin}, ${end}`).toThrow();
    expect(() => readHits(numbers.subarray(1), 0, 5)).toThrow('numbers');
    expect(() => readHits(new Float32Array(10_000) as never, 0, 5)).toThrow('Float64Array');
    readHits();
    readHits();
    expect(() => readHits(numbers, 0, 5)).toThrow('release');
  });
});
