import { beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel, Storage, TextIndex, VectorIndex } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';
import { clusteredVectors, testSeed } from '../helpers/random.js';

const folder = temporaryFolder();
const rows = clusteredVectors(3000, 32, 10, testSeed);
const query = rows.subarray(0, 32);
const words = Array.from({ length: 3000 }, (_, i) => `word${i % 50} text ${i}`);
let modelPath: string;

beforeAll(async () => {
  modelPath = await tinyBert();
});

/** Every class that holds native memory, how to make one, and every method that takes work. */
const kinds = {
  VectorIndex: {
    make: () => VectorIndex.build(rows, 32),
    methods: {
      search: (index: VectorIndex) => index.search(query),
      searchMany: (index: VectorIndex) => index.searchMany(rows),
      save: (index: VectorIndex) => index.save(folder('closed.lkvec')),
    },
  },
  TextIndex: {
    make: () => TextIndex.build(words),
    methods: {
      search: (index: TextIndex) => index.search('word1 text'),
      save: (index: TextIndex) => index.save(folder('closed.bm25')),
    },
  },
  EmbeddingModel: {
    make: () => EmbeddingModel.load(modelPath),
    methods: {
      embed: (model: EmbeddingModel) => model.embed(words.slice(0, 200)),
      embedSettled: (model: EmbeddingModel) => model.embedSettled(words.slice(0, 200)),
      countTokens: (model: EmbeddingModel) => model.countTokens('word'),
    },
  },
  Storage: {
    make: () =>
      Storage.build(
        words.map((text, i) => ({ id: `${i}`, text })),
        rows,
        32,
      ),
    methods: {
      search: (storage: Storage) => storage.search({ mode: 'hybrid', vector: query, text: 'word2' }),
    },
  },
} as const;

type Closable = { close(): Promise<void>; closed: boolean };
type Method = (object: never) => Promise<unknown>;

describe.each(Object.entries(kinds))('%s', (_, kind) => {
  const make = kind.make as () => Promise<Closable>;
  const methods = Object.entries(kind.methods as Record<string, Method>);

  test('is open until close() and says so', async () => {
    const object = await make();
    expect(object.closed).toBe(false);
    const closing = object.close();
    expect(object.closed).toBe(true);
    await closing;
  });

  test('may be closed twice, also at once', async () => {
    const object = await make();
    await Promise.all([object.close(), object.close()]);
    await object.close();
    expect(object.closed).toBe(true);
  });

  test.each(methods)('refuses %s after close()', async (_name, method) => {
    const object = await make();
    await object.close();
    await rejection(method(object as never), 'CLOSED');
  });

  test.each(methods)('lets a pending %s finish before close() resolves', async (_name, method) => {
    const object = await make();
    const order: string[] = [];
    const pending = method(object as never).then(() => order.push('method'));
    const closing = object.close().then(() => order.push('close'));
    await rejection(method(object as never), 'CLOSED');
    await Promise.all([pending, closing]);
    expect(order).toEqual(['method', 'close']);
  });

  test('is closed at the end of an `await using` block', async () => {
    let seen: Closable;
    {
      await using object = (await make()) as Closable & AsyncDisposable;
      seen = object;
      expect(seen.closed).toBe(false);
    }
    expect(seen.closed).toBe(true);
  });
});

test('an object that JavaScript constructs by itself is closed, not wild', async () => {
  const index = await VectorIndex.build(rows, 32);
  const native = (index as unknown as { native: object }).native;
  const Constructor = native.constructor as new () => {
    closed: boolean;
    search(...args: unknown[]): unknown;
  };
  const empty = new Constructor();
  expect(empty.closed).toBe(true);
  expect(() => empty.search(query, 1, 1, false, undefined, undefined)).toThrow(/close/);
  expect(() => Constructor.prototype.search.call({}, query, 1, 1, false, undefined, undefined)).toThrow();
  await index.close();
});
