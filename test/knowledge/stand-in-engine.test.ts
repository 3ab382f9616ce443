import { expect, it } from 'vitest';
import { Storage, type StorageHit, type StoredRecord } from '../../lib/index.js';
import { SearchableStorage } from '../../src/knowledge/index.js';
import type { StorageEngine } from '../../src/knowledge/storage-engine.js';

/** An engine that keeps records in an array and finds those that contain the text. It shows that another one plugs in. */
class ArrayEngine implements StorageEngine {
  readonly dimension = 2;
  readonly tokenizer = 'basic';
  readonly fields: StorageEngine['fields'] = undefined;
  readonly memoryBytes = 0;
  readonly records: { id: string; text: string }[];
  readonly checker: Storage;
  version = 0;
  closed = false;
  pinned = 0;

  constructor(records: { id: string; text: string }[], checker: Storage) {
    this.records = records;
    this.checker = checker;
  }

  get size() {
    return this.records.length;
  }
  versions() {
    return [{ version: this.version, time: 0, size: this.size }];
  }
  keepVersions() {}
  documentFrequency(word: string) {
    return this.records.filter(({ text }) => text.includes(word)).length;
  }
  checkLexical() {}
  keptFilter(expression: Parameters<StorageEngine['keptFilter']>[0]) {
    return this.checker.keptFilter(expression);
  }
  pin() {
    this.pinned++;
    const view = new ArrayEngine(this.records, this.checker);
    return Object.assign(view, { release: () => void this.pinned-- });
  }
  at() {
    return this.pin();
  }
  async search(options: Parameters<StorageEngine['search']>[0]) {
    const { hits, plan, version } = await this.searchInSlices(options);
    return { hits, plan, version };
  }
  async searchInSlices({ text = '', topK = 5 }: Parameters<StorageEngine['search']>[0]) {
    const found = this.all().filter((record) => record.text.includes(text));
    const hits = found
      .slice(0, topK)
      .map((record, index): StorageHit => ({ ...record, score: 1, rank: index + 1, relevance: 1 }));
    const times = { filter: 0, dense: 0, lexical: 0, fusion: 0 };
    return { hits, plan: { mode: 'lexical' as const }, version: this.version, times };
  }
  async addHighlights(hits: readonly StorageHit[]) {
    for (const hit of hits) hit.snippet = [{ text: hit.text, match: true }];
  }
  all(): StoredRecord[] {
    return this.records.map((record, ordinal) => ({ ordinal, ...record }));
  }
  async get(id: string) {
    return this.all().find((record) => record.id === id);
  }
  async getMany(ids: readonly string[]) {
    return this.all().filter(({ id }) => ids.includes(id));
  }
  async has(id: string) {
    return (await this.get(id)) !== undefined;
  }
  async known(ids: readonly string[]) {
    return (await this.getMany(ids)).map(({ id }) => id);
  }
  async list() {
    return this.all();
  }
  async count() {
    return this.size;
  }
  async embedding() {
    return Float32Array.of(1, 0);
  }
  async recordsAt(ordinals: Uint32Array) {
    return Array.from(ordinals, (ordinal) => this.all()[ordinal] as StoredRecord);
  }
  async distinct(ordinals: Uint32Array) {
    return Uint32Array.from(ordinals.keys()).subarray(0, 1);
  }
  async update() {
    return { version: ++this.version, added: 0, replaced: 0, removed: 0, size: this.size };
  }
  async forget() {
    return this.update();
  }
  async close() {
    this.closed = true;
  }
}

it('another engine plugs into the search of knowledge bases: paging, duplicates, context, highlights', async () => {
  const texts = ['bees dance', 'honey', 'bees sleep', 'bees', 'moon'];
  const checker = await Storage.empty(2);
  const engine = new ArrayEngine(
    texts.map((text, n) => ({ id: `r${n}`, text })),
    checker,
  );
  const model = { model: { facts: { dimension: 2 } } } as never;
  const storage = new SearchableStorage(engine, model, undefined);
  const search = async (more: object) =>
    (await storage.search({ text: 'bees', mode: 'lexical', ...more })).hits;
  expect((await search({})).map(({ id }) => id)).toEqual(['r0', 'r2', 'r3']);
  expect((await search({ offset: 1, topK: 1 })).map(({ id, rank }) => [id, rank])).toEqual([['r2', 2]]);
  expect((await search({ dropDuplicates: 0.5 })).map(({ id }) => id)).toEqual(['r0']);
  const [hit] = await search({ context: 1, topK: 1 });
  expect(hit?.context).toEqual({ before: [], after: [{ id: 'r1', text: 'honey' }] });
  expect((await search({ offset: 0, topK: 1, highlight: true }))[0]?.snippet).toEqual([
    { text: 'bees dance', match: true },
  ]);
  expect(engine.pinned).toBe(0);
  expect(() => storage.embedded).toThrow('this needs the files of a knowledge base');
  await storage.close();
  expect(engine.closed).toBe(true);
  await checker.close();
});
