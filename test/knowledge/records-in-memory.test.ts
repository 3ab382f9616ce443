import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { EmbeddingModel, type FieldDefinition, type StorageRecord } from '../../lib/index.js';
import { createStorage, openKnowledgeBase, type SearchableStorage } from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { words } from './words.js';

const file = temporaryFolder();
const fields: FieldDefinition[] = [
  { name: 'year', type: 'int', optional: true },
  { name: 'count', type: 'int', default: 0 },
  { name: 'price', type: 'float', optional: true },
  { name: 'tags', type: 'set<string>', optional: true },
  { name: 'open', type: 'bool', default: false },
  { name: 'kind', type: 'string', optional: true },
  { name: 'day', type: 'int', format: 'date', optional: true },
];
let model: EmbeddingModel;
let records: StorageRecord[];

beforeAll(async () => {
  console.log(`seed ${testSeed}`);
  const next = random(testSeed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
  records = Array.from({ length: 300 }, (_, n) => ({
    id: `id "${n}"\n`,
    text: `${Array.from({ length: 6 }, () => pick(words)).join(' ')} ${n} \u2028 é`,
    metadata: {
      ...(next() < 0.8 && { year: 1900 + Math.floor(next() * 100) }),
      ...(next() < 0.1 && { count: 2n ** 60n + BigInt(n) }),
      ...(next() < 0.5 && { price: next() * 10 }),
      ...(next() < 0.5 && { tags: [pick(words), pick(words)] }),
      ...(next() < 0.5 && { open: next() < 0.5 }),
      ...(next() < 0.9 && { kind: pick(['a', 'b', 'quote "']) }),
      ...(next() < 0.5 && { day: '2024-05-31' }),
    },
  }));
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

const create = () => createStorage({ records, fields, model });
const yearOf = ({ metadata }: StorageRecord) => metadata?.year as number | undefined;

describe('a storage of records in memory', () => {
  it('finds them by id, in order and by filter, as a loop over all of them does', async () => {
    await using storage = await create();
    expect(storage.size).toBe(300);
    const filter = { year: { '>=': 1950 } };
    const matching = records.filter((record) => (yearOf(record) ?? 0) >= 1950);
    expect(await storage.count()).toBe(300);
    expect(await storage.count({ filter })).toBe(matching.length);
    const variables = { since: 1950 };
    const byVariable = { '>=': [{ knowledge: 'year' }, { variable: 'since' }] } as const;
    expect(await storage.count({ filter: byVariable, variables })).toBe(matching.length);
    const listed = await storage.list({ filter, offset: 5, limit: 20 });
    expect(listed.map(({ id }) => id)).toEqual(matching.slice(5, 25).map(({ id }) => id));
    const all = await storage.list({ limit: 10_000 });
    expect(all.map(({ id, text }) => [id, text])).toEqual(records.map(({ id, text }) => [id, text]));
    expect(all.map(({ ordinal }) => ordinal)).toEqual(records.map((_, ordinal) => ordinal));
    expect(await storage.list({ offset: 300 })).toEqual([]);
    expect(await storage.list()).toHaveLength(100);
    for (const wanted of records.slice(0, 50)) {
      const found = await storage.get(wanted.id);
      expect(found?.text).toBe(wanted.text);
      expect(found?.metadata?.year).toBe(yearOf(wanted));
      expect(found?.metadata?.count).toBe(wanted.metadata?.count ?? 0);
    }
    expect([await storage.get('absent'), await storage.has('absent')]).toEqual([undefined, false]);
    expect(await storage.has(records[7]?.id as string)).toBe(true);
  });

  it('searches them, filtered, with their metadata', async () => {
    await using storage = await create();
    const { hits } = await storage.search({
      text: records[3]?.text as string,
      topK: 300,
      filter: { kind: { '==': 'a' } },
    });
    expect(new Set(hits.map(({ metadata }) => metadata?.kind))).toEqual(new Set(['a']));
    expect(hits).toHaveLength(await storage.count({ filter: { kind: { '==': 'a' } } }));
  });

  it('names the record that is wrong', async () => {
    const making = (more: object[], extra: object = {}) =>
      createStorage({
        records: [...records.slice(0, 2), ...more] as StorageRecord[],
        fields,
        model,
        ...extra,
      });
    const message = async (making: Promise<SearchableStorage>) =>
      (await rejection(making, 'INVALID_ARGUMENT')).message;
    expect(await message(making([{ id: '', text: 'x' }]))).toBe('records[2].id: the string is empty');
    expect(await message(making([{ id: 'a' }]))).toBe('records[2].text: a string is expected');
    expect(await message(making([{ ...records[0] }]))).toContain('is the id of records[0] already');
    expect(await message(making([{ id: 'a', text: 'x', metadata: { year: 'old' } }]))).toContain('year');
    expect(await message(createStorage({ records: [], model }))).toContain('at least one record');
    expect(await message(createStorage({ model }))).toContain('neither is given');
    expect(await message(createStorage({ records, strings: ['x'], model }))).toContain('both are given');
    expect(await message(createStorage({ records }))).toContain('{ embed, dimension, fingerprint }');
    await using storage = await create();
    expect((await rejection(storage.list({ limit: 0 }), 'INVALID_ARGUMENT')).detail.field).toBe('limit');
    await rejection(storage.get(3 as never), 'INVALID_ARGUMENT');
    await storage.close();
    await rejection(storage.get('a'), 'CLOSED');
  });
});

it('applies batches in the order of the calls, however long their embedding takes', async () => {
  let release = () => {};
  const first = new Promise<void>((resolve) => {
    release = resolve;
  });
  const embedder = {
    dimension: 2,
    fingerprint: 'one',
    embed: async (texts: readonly string[]) => {
      if (texts.includes('first')) await first;
      if (texts.includes('second')) setImmediate(release);
      return texts.map(() => [1, 1]);
    },
  };
  await using storage = await createStorage({ strings: ['Bees dance'], model: embedder });
  const put = (text: string) => storage.update({ add: [{ id: 'x', text }], upsert: true });
  const results = await Promise.all([put('first'), put('second')]);
  expect(results.map(({ version }) => version)).toEqual([1, 2]);
  expect((await storage.get('x'))?.text).toBe('second');
});

describe('save()', () => {
  it('writes a storage that was changed, and refuses one without records', async () => {
    await using storage = await createStorage({ records: records.slice(0, 3), fields, model });
    const [first, second] = records as [StorageRecord, StorageRecord];
    await storage.update({ add: [{ id: 'new', text: 'Bees dance' }], remove: [first.id] });
    const [config] = (await storage.save(file('changed', 'kb.json'), { embeddingModel: 'tiny' })) as [string];
    {
      await using opened = await openKnowledgeBase(config, { models: async () => ({ model }) });
      expect((await opened.list()).map(({ id }) => id)).toEqual([second.id, records[2]?.id, 'new']);
      expect([opened.embeddings, opened.indexWritten]).toEqual([undefined, false]);
    }
    await storage.update({ remove: [second.id, records[2]?.id as string, 'new'] });
    await rejection(storage.save(file('emptied', 'kb.json'), { embeddingModel: 'tiny' }), 'INVALID_ARGUMENT');
    expect(existsSync(file('emptied', 'kb.records.json'))).toBe(false);
  });

  it.runIf(process.platform === 'linux')('fails where no folder can be made', async () => {
    await using storage = await create();
    const saved = storage.save('/proc/absent/kb.json', { embeddingModel: 'tiny' });
    await expect(saved).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('writes a knowledge base that opens without embedding and answers as the storage did', async () => {
    await using storage = await create();
    const paths = await storage.save(file('saved', 'kb.json'), { embeddingModel: 'tiny' });
    expect(paths.map((path) => path.slice(file('saved').length + 1))).toEqual([
      'kb.json',
      'kb.records.json',
      'kb.index',
      'kb.bm25',
    ]);
    expect(JSON.parse(readFileSync(paths[0] as string, 'utf8'))).toMatchObject({
      search: { mode: 'hybrid', top_k: 5, fusion: 'scores' },
    });
    await using opened = await openKnowledgeBase(paths[0] as string, { models: async () => model });
    // What the index file has is not embedded.
    expect(opened.embeddings).toBeUndefined();
    expect(await opened.list({ limit: 1000 })).toEqual(await storage.list({ limit: 1000 }));
    for (const mode of ['dense', 'lexical', 'hybrid'] as const) {
      const search = { text: records[9]?.text as string, mode, topK: 20 };
      const same = ({ hits }: Awaited<ReturnType<SearchableStorage['search']>>) =>
        hits.map(({ id, score, metadata }) => [id, score.toFixed(5), metadata]);
      expect(same(await opened.search(search))).toEqual(same(await storage.search(search)));
    }
    // Saving again replaces them.
    await storage.save(file('saved', 'kb.json'), { embeddingModel: 'tiny' });
  });

  it('needs a name for the model, and replaces no other file', async () => {
    await using storage = await create();
    const nameless = await rejection(storage.save(file('nameless.json')), 'INVALID_ARGUMENT');
    expect(nameless.detail.field).toBe('embeddingModel');
    writeFileSync(file('mine.json'), '{"my": "config"}');
    const error = await rejection(
      storage.save(file('mine.json'), { embeddingModel: 'tiny' }),
      'INVALID_ARGUMENT',
    );
    expect(error.message).toContain('choose another path');
    expect(readFileSync(file('mine.json'), 'utf8')).toBe('{"my": "config"}');
    writeFileSync(file('other.records.json'), '[{"id": "mine", "text": "precious"}]');
    const records = storage.save(file('other.json'), { embeddingModel: 'tiny' });
    expect((await rejection(records, 'INVALID_ARGUMENT')).message).toContain('other.records.json');
    expect(readFileSync(file('other.records.json'), 'utf8')).toContain('precious');
    expect(existsSync(file('other.json'))).toBe(false);
  });
});

describe("one's own embeddings", () => {
  const dimension = 8;
  /** Vectors by the letters of a text. */
  const vectorOf = (text: string) =>
    Array.from(
      { length: dimension },
      (_, i) => [...text].filter((c) => c.charCodeAt(0) % dimension === i).length + 0.1,
    );
  const asked: [string, number][] = [];
  const embedder = {
    dimension,
    fingerprint: 'letters 1',
    batchSize: 64,
    embed: async (texts: readonly string[], { kind }: { kind: string }) => {
      asked.push([kind, texts.length]);
      return texts.map(vectorOf);
    },
  };
  const nearest = (text: string) => {
    const unit = (vector: number[]) => {
      const length = Math.hypot(...vector);
      return vector.map((value) => value / length);
    };
    const query = unit(vectorOf(text));
    const cosine = (vector: number[]) =>
      unit(vector).reduce((sum, value, i) => sum + value * (query[i] ?? 0), 0);
    return records
      .map((record) => ({ id: record.id, cosine: cosine(vectorOf(record.text)) }))
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, 5)
      .map(({ cosine }) => cosine.toFixed(4));
  };

  it('come from a function, in batches, and give the nearest records', async () => {
    asked.length = 0;
    await using storage = await createStorage({ records, model: embedder });
    expect(asked).toEqual([64, 64, 64, 64, 44].map((count) => ['document', count]));
    const { hits } = await storage.search({ text: 'sourdough bees', mode: 'dense', ef: 500 });
    expect(asked.at(-1)).toEqual(['query', 1]);
    expect(hits.map(({ score }) => score.toFixed(4))).toEqual(nearest('sourdough bees'));
  });

  it('serve a knowledge base from files, and are embedded again only when the fingerprint changes', async () => {
    writeFileSync(file('own-records.json'), JSON.stringify(records.map(({ id, text }) => ({ id, text }))));
    const config = {
      embedding_model: 'letters',
      records_file: 'own-records.json',
      embeddings_file: 'own.embeddings',
    };
    writeFileSync(file('own.json'), JSON.stringify({ ...config, index_file: undefined }));
    const open = (models: Parameters<typeof openKnowledgeBase>[1]['models']) =>
      openKnowledgeBase(file('own.json'), { models });
    await using first = await open(embedder);
    expect(first.embeddings).toMatchObject({ embedded: 300, reused: 0 });
    const { hits } = await first.search({ text: 'sourdough bees', mode: 'dense', ef: 500 });
    expect(hits.map(({ score }) => score.toFixed(4))).toEqual(nearest('sourdough bees'));
    await using second = await open(async () => embedder);
    expect(second.embeddings).toMatchObject({ embedded: 0, reused: 300 });
    await using third = await open(async () => ({ model: { ...embedder, fingerprint: 'letters 2' } }));
    expect(third.embeddings).toMatchObject({ embedded: 300, reused: 0 });
  });

  it('that exist already need no model: searches have a vector or look for words', async () => {
    const vectors = Float32Array.from(records.flatMap(({ text }) => vectorOf(text)));
    await using storage = await createStorage({ records, vectors });
    const vector = Float32Array.from(vectorOf('sourdough bees'));
    const { hits } = await storage.search({ text: '', vector, mode: 'dense', ef: 500 });
    expect(hits.map(({ score }) => score.toFixed(4))).toEqual(nearest('sourdough bees'));
    expect((await storage.search({ text: 'sourdough bees', vector })).plan.mode).toBe('hybrid');
    expect((await storage.search({ text: 'sourdough' })).plan.mode).toBe('lexical');
    const blind = await rejection(storage.search({ text: 'bees', mode: 'dense' }), 'INVALID_ARGUMENT');
    expect(blind.message).toContain('give the embedding of the query');
    const wrong = createStorage({ records, vectors: vectors.subarray(1) });
    expect((await rejection(wrong, 'DIMENSION_MISMATCH')).message).toContain('each of the 300 records');
    const other = createStorage({ records, vectors, model });
    expect((await rejection(other, 'DIMENSION_MISMATCH')).message).toContain('64 numbers are expected');
  });

  it('of the wrong kind are refused with the culprit', async () => {
    const making = (more: object) => createStorage({ records, model: { ...embedder, ...more } });
    const field = async (more: object, code: 'INVALID_ARGUMENT' | 'DIMENSION_MISMATCH') =>
      (await rejection(making(more), code)).detail.field;
    expect(await field({ dimension: 0 }, 'INVALID_ARGUMENT')).toBe('model.dimension');
    expect(await field({ fingerprint: '' }, 'INVALID_ARGUMENT')).toBe('model.fingerprint');
    expect(await field({ embed: async () => [[1]] }, 'DIMENSION_MISMATCH')).toBe('model.embed');
    expect(await field({ embed: async () => new Float32Array(8) }, 'DIMENSION_MISMATCH')).toBe('model.embed');
    const nan = { embed: async (texts: string[]) => texts.map(() => Array(8).fill(Number.NaN)) };
    expect(await field(nan, 'INVALID_ARGUMENT')).toBe('model.embed');
    const own = new Error('the service is down');
    await expect(making({ embed: async () => Promise.reject(own) })).rejects.toBe(own);
  });
});
