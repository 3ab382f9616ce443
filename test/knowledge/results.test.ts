import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { EmbeddingModel, type FieldDefinition, type StorageRecord } from '../../lib/index.js';
import {
  createStorage,
  type KnowledgeSearchOptions,
  type SearchableStorage,
  searchStorages,
} from '../../src/knowledge/index.js';
import { searchNamed } from '../../src/knowledge/search-storages.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { words } from './words.js';

const file = temporaryFolder();
const modes = ['dense', 'lexical', 'hybrid'] as const;
const fields: FieldDefinition[] = [
  { name: 'path', type: 'string', optional: true },
  { name: 'year', type: 'int', optional: true },
  { name: 'tags', type: 'set<string>', optional: true },
];
let records: StorageRecord[];
let storage: SearchableStorage;
let queries: string[];

beforeAll(async () => {
  console.log(`seed ${testSeed}`);
  const next = random(testSeed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
  const sentence = () => Array.from({ length: 5 }, () => pick(words)).join(' ');
  const texts = Array.from({ length: 120 }, sentence);
  records = Array.from({ length: 600 }, (_, n) => ({
    id: `r${n}`,
    // Many repeat another, alone or with one more word.
    text: next() < 0.5 ? pick(texts) : `${pick(texts)} ${pick(words)}`,
    metadata: {
      ...(n % 10 < 9 && { path: `${Math.floor(n / 10)}.md` }),
      ...(next() < 0.7 && { year: n % 7 }),
    },
  }));
  queries = [...Array.from({ length: 6 }, sentence), pick(texts)];
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 96 });
  const model = await EmbeddingModel.load(file('tiny.gguf'));
  storage = await createStorage({ records, fields, model });
});

/** The whole ranking, which the slow twins choose from. */
async function ranking(options: KnowledgeSearchOptions) {
  return (await storage.search({ ...options, topK: 1000 })).hits;
}

type Hit = Awaited<ReturnType<typeof ranking>>[number];
const ids = (hits: readonly Pick<Hit, 'id'>[]) => hits.map(({ id }) => id);
const recordOf = (id: string) => records[Number(id.slice(1))] as StorageRecord;

/** At most `size` hits of each value, by looking at all earlier hits. */
function slowGroups(hits: readonly Hit[], field: string, size: number): Hit[] {
  const kept: Hit[] = [];
  for (const hit of hits) {
    const value = recordOf(hit.id).metadata?.[field];
    const same = kept.filter(({ id }) => value !== undefined && recordOf(id).metadata?.[field] === value);
    if (same.length < size) kept.push(hit);
  }
  return kept;
}

/** Hits farther than `distance` from every kept hit, in doubles. */
async function slowDistinct(hits: readonly Hit[], distance: number): Promise<Hit[]> {
  const kept: { hit: Hit; row: number[] }[] = [];
  for (const hit of hits) {
    const row = Array.from((await storage.storage.embedding(hit.id)) as Float32Array);
    const near = kept.some(
      (other) => 1 - other.row.reduce((sum, v, i) => sum + v * (row[i] ?? 0), 0) <= distance,
    );
    if (!near) kept.push({ hit, row });
  }
  return kept.map(({ hit }) => hit);
}

describe.each(modes)('in %s mode, a page of results', (mode) => {
  it('is a piece of the whole ranking, wherever it begins', async () => {
    for (const text of queries) {
      const all = ids(await ranking({ text, mode }));
      const pages: string[] = [];
      for (let offset = 0; offset < 100; offset += 10) {
        const { hits } = await storage.search({ text, mode, topK: 10, offset });
        expect(hits.map(({ rank }) => rank)).toEqual(hits.map((_, index) => offset + index + 1));
        pages.push(...ids(hits));
      }
      expect(pages).toEqual(all.slice(0, 100));
      expect(ids((await storage.search({ text, mode, topK: 50, offset: 950 })).hits)).toEqual(
        all.slice(950, 1000),
      );
    }
  });

  it('has at most so many hits of a group as are wanted', async () => {
    for (const text of queries) {
      const all = await ranking({ text, mode });
      for (const [groupBy, groupSize] of [
        ['path', 1],
        ['year', 3],
      ] as const) {
        const { hits } = await storage.search({ text, mode, topK: 20, offset: 5, groupBy, groupSize });
        expect(ids(hits)).toEqual(ids(slowGroups(all, groupBy, groupSize).slice(5, 25)));
      }
    }
  });

  it('has no near duplicate of a better hit, within groups or without', async () => {
    for (const text of queries.slice(5)) {
      const all = await ranking({ text, mode });
      for (const distance of [0, 0.05, 0.4]) {
        // A distance of 0 is not exactly 0 in floats.
        const dropDuplicates = distance + 1e-5;
        const distinct = await slowDistinct(all, dropDuplicates);
        expect(distinct.length).toBeLessThan(all.length);
        const { hits } = await storage.search({ text, mode, topK: 15, offset: 3, dropDuplicates });
        expect(ids(hits)).toEqual(ids(distinct.slice(3, 18)));
        const grouped = await storage.search({ text, mode, topK: 15, dropDuplicates, groupBy: 'path' });
        expect(ids(grouped.hits)).toEqual(ids(slowGroups(distinct, 'path', 1).slice(0, 15)));
      }
    }
  });

  it('has no hit of an equal embedding with dropDuplicates 0', async () => {
    for (const text of queries.slice(5)) {
      const distinct = await slowDistinct(await ranking({ text, mode }), 1e-6);
      const { hits } = await storage.search({ text, mode, topK: 100, dropDuplicates: 0 });
      expect(ids(hits)).toEqual(ids(distinct.slice(0, 100)));
    }
  });

  it('has the records around each hit, as far as they are of the same document', async () => {
    const text = queries[0] as string;
    for (const [context, contextField] of [
      [1, undefined],
      [3, 'path'],
      [10, 'year'],
    ] as const) {
      const { hits } = await storage.search({ text, mode, topK: 40, context, contextField });
      expect(ids(hits)).toEqual(ids((await storage.search({ text, mode, topK: 40 })).hits));
      for (const { id, context: around } of hits) {
        const at = Number(id.slice(1));
        const fieldOf = (n: number) => records[n]?.metadata?.[contextField ?? 'path'];
        const beside = (step: number) => {
          const found: { id: string; text: string }[] = [];
          for (let n = at + step; Math.abs(n - at) <= context; n += step) {
            if (records[n] === undefined || fieldOf(n) !== fieldOf(at)) break;
            found.push({ id: `r${n}`, text: records[n]?.text as string });
          }
          return found;
        };
        expect(around).toEqual({ before: beside(-1).reverse(), after: beside(1) });
      }
    }
  });

  it('is highlighted like any other', async () => {
    const search = { text: queries[6] as string, mode, topK: 3, highlight: true } as const;
    const plain = await storage.search(search);
    const paged = await storage.search({ ...search, offset: 0 });
    expect(paged.hits.map(({ snippet }) => snippet)).toEqual(plain.hits.map(({ snippet }) => snippet));
    expect(paged.hits[0]?.snippet?.some(({ match }) => match)).toBe(true);
  });
});

describe('records like one', () => {
  it('are its nearest ones, without itself', async () => {
    for (const id of ['r3', 'r77', 'r599']) {
      const vector = (await storage.storage.embedding(id)) as Float32Array;
      const all = (await storage.search({ text: '', vector, mode: 'dense', topK: 1000 })).hits;
      const others = all.filter((hit) => hit.id !== id);
      const { hits } = await storage.similar(id, { topK: 10 });
      expect(ids(hits)).toEqual(ids(others.slice(0, 10)));
      expect(hits.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      const filtered = await storage.similar(id, { topK: 5, filter: { year: { '==': 3 } } });
      expect(ids(filtered.hits)).toEqual(ids(others.filter((hit) => hit.metadata?.year === 3).slice(0, 5)));
      const distinct = await storage.similar(id, { topK: 5, dropDuplicates: 0.05, groupBy: 'path' });
      const slow = slowGroups(await slowDistinct(others, 0.05), 'path', 1);
      expect(ids(distinct.hits)).toEqual(ids(slow.slice(0, 5)));
    }
  });
});

describe('a search of several storages', () => {
  it('merges their rankings by relevance, and chooses from the merged one', async () => {
    const model = storage.model;
    const part = (begin: number, end: number) =>
      createStorage({ records: records.slice(begin, end), fields, model });
    await using first = await part(0, 250);
    await using second = await part(200, 420);
    await using third = await part(420, 600);
    const storages = { first, second, third };
    const names = Object.keys(storages) as (keyof typeof storages)[];
    /** The merged ranking, by looking at all heads for each hit. */
    const slowMerge = async (search: KnowledgeSearchOptions) => {
      const left = await Promise.all(
        names.map(async (storage) =>
          (await storages[storage].search({ ...search, topK: 1000 })).hits.map((hit) => ({
            ...hit,
            storage,
          })),
        ),
      );
      const hits: (typeof left)[number][number][] = [];
      for (;;) {
        const heads = left.flatMap((hits, index) => (hits[0] === undefined ? [] : [{ index, hit: hits[0] }]));
        if (heads.length === 0) return hits;
        const most = Math.max(...heads.map(({ hit }) => hit.relevance));
        const head = heads.find(({ hit }) => hit.relevance === most) as (typeof heads)[number];
        hits.push(left[head.index]?.shift() as typeof head.hit);
      }
    };
    const shown = (hits: readonly { storage: string; id: string }[]) =>
      hits.map(({ storage, id }) => `${storage} ${id}`);
    for (const mode of ['dense', 'lexical'] as const) {
      const text = queries[0] as string;
      const all = await slowMerge({ text, mode });
      const paged = await searchStorages(storages, { text, mode, topK: 12, offset: 7 });
      expect(shown(paged.hits)).toEqual(shown(all.slice(7, 19)));
      expect(paged.hits.map(({ rank }) => rank)).toEqual(paged.hits.map((_, index) => index + 8));
      expect(paged.outcomes.map(({ storage, plan }) => [storage, plan.mode])).toEqual(
        names.map((name) => [name, mode]),
      );
      const groups = await searchStorages(storages, { text, mode, topK: 30, groupBy: 'path' });
      expect(shown(groups.hits)).toEqual(shown(slowGroups(all, 'path', 1).slice(0, 30) as typeof all));
      const distinct = await searchStorages(storages, { text, mode, topK: 30, dropDuplicates: 0.05 });
      expect(new Set(distinct.hits.map(({ text }) => text)).size).toBe(distinct.hits.length);
      const around = await searchStorages(storages, { text, mode, topK: 5, context: 1 });
      expect(shown(around.hits)).toEqual(shown(all.slice(0, 5)));
      for (const { storage, id, context } of around.hits) {
        const [alone] = (
          await storages[storage as 'first'].search({ text, mode, topK: 1000, context: 1 })
        ).hits.filter((hit) => hit.id === id);
        expect(context).toEqual(alone?.context);
      }
    }
    await rejection(searchStorages({}, { text: 'bees' }), 'INVALID_ARGUMENT');
  });
});

describe('the conversion of a long result', () => {
  /** Runs `search` with a clock that says that every item took a millisecond. Returns how many turns it waited for. */
  async function turnsOf(search: (turn: () => Promise<void>) => Promise<unknown>): Promise<number> {
    let turns = 0;
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++now);
    try {
      await search(async () => {
        turns++;
        await nextTurnOfLoop();
      });
    } finally {
      clock.mockRestore();
    }
    return turns;
  }

  it('waits for a turn before each slice, whatever is added to the hits', async () => {
    const search = { text: queries[0] as string, mode: 'hybrid', topK: 500, offset: 0 } as const;
    const turns = (options: Partial<KnowledgeSearchOptions>) =>
      turnsOf((turn) => storage.searchInSlices({ ...search, ...options }, turn));
    const plain = await turns({});
    expect(plain).toBeGreaterThan(500 / 32);
    expect(await turns({ highlight: true })).toBeGreaterThanOrEqual(plain + 500);
    // Each hit, each of the 600 records, and each hit again.
    expect(await turns({ context: 10 })).toBeGreaterThanOrEqual(plain + 500 + 600 + 500);
  });

  it('of several storages waits for a turn before each slice', async () => {
    const options = { text: queries[0] as string, mode: 'dense', topK: 500 } as const;
    const searches = ['a', 'b'].map((name) => ({ storage, name, options }));
    const turns = await turnsOf((turn) =>
      searchNamed(searches, (search) => search.storage.searchInSlices(search.options, turn), turn),
    );
    // Each hit of both, and each of the merged ones.
    expect(turns).toBeGreaterThanOrEqual(2 * 500 + 500);
  });

  it('leaves out the positions of matches where only snippets are wanted', async () => {
    const search = { text: queries[6] as string, mode: 'lexical', topK: 50 } as const;
    const { hits } = await storage.search({ ...search, highlight: 'snippet' });
    const whole = await storage.search({ ...search, highlight: true });
    expect(hits.map(({ snippet }) => snippet)).toEqual(whole.hits.map(({ snippet }) => snippet));
    expect(hits.every((hit) => hit.highlights === undefined)).toBe(true);
    expect(whole.hits.every((hit) => hit.highlights !== undefined)).toBe(true);
  });
});

it('options of results that cannot work are refused by name', async () => {
  const refused = async (options: Partial<KnowledgeSearchOptions>) => {
    const { detail } = await rejection(storage.search({ text: 'bees', ...options }), 'INVALID_ARGUMENT');
    return detail.field;
  };
  expect(await refused({ offset: -1 })).toBe('offset');
  expect(await refused({ offset: 996 })).toBe('offset');
  expect(await refused({ offset: 1.5 })).toBe('offset');
  expect(await refused({ groupBy: 'tags' })).toBe('groupBy');
  expect(await refused({ groupBy: 'absent' })).toBe('groupBy');
  expect(await refused({ groupSize: 2 })).toBe('groupSize');
  expect(await refused({ groupBy: 'path', groupSize: 0 })).toBe('groupSize');
  for (const dropDuplicates of [3, -1, NaN, '', null] as number[])
    expect(await refused({ dropDuplicates })).toBe('dropDuplicates');
  expect(await refused({ context: 11 })).toBe('context');
  expect(await refused({ contextField: 'path' })).toBe('contextField');
  expect(await refused({ context: 1, contextField: 'absent' })).toBe('contextField');
  expect(await refused({ similarTo: 'r1' })).toBe('similarTo');
  expect(await refused({ text: '', similarTo: 'absent' })).toBe('similarTo');
  expect(await refused({ text: '', similarTo: 'r1', mode: 'lexical' })).toBe('mode');
  expect(await refused({ text: '', similarTo: 'r1', highlight: true })).toBe('highlight');
  for (const highlight of [0, '', null, 'all'] as unknown as boolean[]) {
    for (const options of [{}, { offset: 0 }, { groupBy: 'path' }, { text: '', similarTo: 'r1' }])
      expect(await refused({ ...options, highlight })).toBe('highlight');
  }
  const rerank = { model: { rank: () => expect.fail('there is no query to rank by') } };
  expect(await refused({ text: '', similarTo: 'r1', rerank })).toBe('rerank');
});
