import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Storage, TextIndex, VectorIndex } from '../../lib/index.js';

/** What searches may hold the event loop between two turns of it, in nanoseconds, as docs/reference/api.md says. */
const share = 500_000;

let shared: typeof import('../../lib/boundary/event-loop-share.js');
beforeEach(async () => {
  vi.resetModules(); // a share that nobody has used any of
  shared = await import('../../lib/boundary/event-loop-share.js');
});
afterEach(() => turn());

test('searches may hold the event loop until their share of a turn is used up', () => {
  expect(shared.mayHold()).toBe(true);
  shared.countHeld(share - 1);
  expect(shared.mayHold()).toBe(true);
  shared.countHeld(1);
  expect(shared.mayHold()).toBe(false);
});

test('the next turn brings a new share, and owes nothing of what went beyond', async () => {
  shared.countHeld(10 * share);
  expect(shared.mayHold()).toBe(false);
  await turn();
  expect(shared.mayHold()).toBe(true);
  shared.countHeld(share - 1);
  expect(shared.mayHold()).toBe(true);
});

test('one caller at a time waits for the next turn', async () => {
  expect(shared.nextTurn(), 'nobody has held it').toBeUndefined();
  shared.countHeld(share);
  const waiting = shared.nextTurn();
  expect(waiting).toBeInstanceOf(Promise);
  expect(shared.nextTurn(), 'a second one').toBeUndefined();
  await waiting;
  expect(shared.mayHold()).toBe(true);
});

describe('of searches that are asked for at once, no more than fit the share run on this thread', () => {
  const dimension = 16;
  const count = 500;
  const rows = Float32Array.from({ length: count * dimension }, (_, i) => Math.sin(i * i));
  const vector = rows.slice(0, dimension);
  const texts = Array.from({ length: count }, (_, i) => `word${i % 7} of ${i}`);
  const records = texts.map((text, i) => ({ id: `${i}`, text }));

  test.each<[string, () => Promise<Searched>]>([
    ['dense', () => ofStorage((storage) => storage.search({ vector }))],
    ['lexical', () => ofStorage((storage) => storage.search({ mode: 'lexical', text: 'word3 of' }))],
    ['hybrid', () => ofStorage((storage) => storage.search({ mode: 'hybrid', vector, text: 'word5' }))],
    ['of vectors', async () => of(await VectorIndex.build(rows, dimension), (index) => index.search(vector))],
    [
      'of several vectors a call',
      async () =>
        of(await VectorIndex.build(rows, dimension), (index) => index.searchMany(rows.slice(0, 48))),
    ],
    ['of words', async () => of(await TextIndex.build(texts), (index) => index.search('word1 of'))],
  ])('%s', async (_, make) => {
    const { searched, search } = await make();
    const first = await search();
    for (let i = 0; i < 40; i++) await search(); // by now it is known that they are short
    const { native } = searched as unknown as { native: { searchNow(...given: unknown[]): unknown } };
    const searchNow = native.searchNow.bind(native);
    let calls = 0;
    for (const [held, fit] of [
      [share / 2, 2],
      [share * 3, 1],
    ] as const) {
      const value = (...given: unknown[]) => {
        calls++;
        const found = searchNow(...given);
        (given.at(-1) as Float64Array)[0] = held;
        return found;
      };
      Object.defineProperty(native, 'searchNow', { value, configurable: true });
      await turn();
      await turn();
      calls = 0;
      const asked = Array.from({ length: 10 }, search);
      expect(calls).toBe(fit);
      for (const found of await Promise.all(asked)) expect(found).toEqual(first);
    }
    await searched.close();
  });

  interface Searched {
    searched: { close(): Promise<void> };
    search: () => Promise<unknown>;
  }
  const of = <T extends Searched['searched']>(searched: T, search: (searched: T) => Promise<unknown>) => ({
    searched,
    search: () => search(searched),
  });
  const ofStorage = async (search: (storage: Storage) => Promise<unknown>) =>
    of(await Storage.build(records, rows, dimension), search);
});
