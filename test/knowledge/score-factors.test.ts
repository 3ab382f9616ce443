import { describe, expect, it } from 'vitest';
import { createStorage } from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { random } from '../helpers/random.js';

const fields = [
  { name: 'time', type: 'int', format: 'date-time', optional: true },
  { name: 'day', type: 'int', format: 'date', default: '2020-01-01' },
  { name: 'importance', type: 'float', default: 0.5 },
  { name: 'plain', type: 'int', default: 0 },
  { name: 'group', type: 'string', default: '' },
] as const;

const hour = 3_600_000;
const dimension = 8;

/** Records with vectors of both directions, some without a time. */
async function made(count = 300) {
  const next = random(5);
  const now = Date.now();
  const records = Array.from({ length: count }, (_, index) => ({
    id: `r${index}`,
    text: `bees number ${index % 7} dance`,
    metadata: {
      ...(index % 5 > 0 && { time: now - Math.floor(next() * 48) * hour }),
      importance: Math.floor(next() * 11) / 10,
      group: `g${index % 4}`,
    },
  }));
  const vectors = Float32Array.from({ length: count * dimension }, () => next() - 0.5);
  const model = {
    dimension,
    fingerprint: 'f'.repeat(16),
    embed: async (texts: readonly string[]) => texts.map(() => Array.from({ length: dimension }, () => 1)),
  };
  const storage = await createStorage({ records, fields, vectors, model });
  return { storage, byId: new Map(records.map((record) => [record.id, record])) };
}

describe('recency and importance', () => {
  it('multiply scores as the formula says, and order the hits', async () => {
    const { storage, byId } = await made();
    const now = storage.storage.versions().at(-1)?.time as number;
    const query = { text: 'bees number 3', topK: 100 } as const;
    const pool = { ...query, topK: 1000 };
    for (const mode of ['dense', 'lexical', 'hybrid'] as const) {
      const plain = await storage.search({ ...pool, mode });
      const recency = { halfLifeS: 36_000, weight: 0.4 };
      const importance = { weight: 0.3 };
      const found = await storage.search({ ...query, mode, recency, importance });
      const expected = plain.hits.map(({ id, score }) => {
        const metadata = byId.get(id)?.metadata as { time?: number; importance: number };
        const age = metadata.time === undefined ? Number.POSITIVE_INFINITY : Math.max(0, now - metadata.time);
        const factor = (1 - 0.4 + 0.4 * 2 ** (-age / 36_000_000)) * (1 - 0.3 + 0.3 * metadata.importance);
        return { id, score: score >= 0 ? score * factor : score * (2 - factor) };
      });
      expected.sort((a, b) => b.score - a.score);
      expect(found.hits).toHaveLength(100);
      for (const [index, hit] of found.hits.entries()) {
        expect(hit.rank).toBe(index + 1);
        expect(hit.score).toBeCloseTo(expected[index]?.score as number, 5);
      }
    }
  });

  it('change nothing with weight 0, and keep groups, pages and versions', async () => {
    const { storage } = await made();
    const query = { text: 'bees number 3', topK: 20, mode: 'dense' } as const;
    const plain = await storage.search(query);
    const none = await storage.search({ ...query, recency: { weight: 0 }, importance: { weight: 0 } });
    expect(none.hits).toEqual(plain.hits);
    const recency = { halfLifeS: 3600 };
    const pages = [
      ...(await storage.search({ ...query, topK: 10, offset: 0, recency })).hits,
      ...(await storage.search({ ...query, topK: 10, offset: 10, recency })).hits,
    ];
    const whole = await storage.search({ ...query, offset: 0, recency });
    expect(pages.map(({ id }) => id)).toEqual(whole.hits.map(({ id }) => id));
    const grouped = await storage.search({ ...query, recency, groupBy: 'group' });
    expect(new Set(grouped.hits.map(({ metadata }) => metadata?.group)).size).toBe(grouped.hits.length);
    storage.storage.keepVersions({ count: 2 });
    const before = await storage.search({ ...query, recency });
    await storage.update({ add: [{ id: 'new', text: 'bees number 3', metadata: { time: Date.now() } }] });
    await using view = storage.at(0);
    expect((await view.search({ ...query, recency })).hits).toEqual(before.hits);
  });

  it('are refused for fields without times or numbers, out of range, and beside a reranker', async () => {
    const { storage } = await made(10);
    const search = (more: object) => storage.search({ text: 'bees', ...more });
    const model = { rank: async () => ({ results: [], truncated: [], tokens: 0 }) as never };
    const cases: [object, string][] = [
      [{ recency: { field: 'plain' } }, 'recency.field'],
      [{ recency: { field: 'nothing' } }, 'recency.field'],
      [{ recency: { field: 'importance' } }, 'recency.field'],
      [{ recency: { halfLifeS: 0 } }, 'recency.halfLifeS'],
      [{ recency: { weight: 1.5 } }, 'recency.weight'],
      [{ importance: { field: 'group' } }, 'importance.field'],
      [{ importance: { weight: -1 } }, 'importance.weight'],
      [{ importance: {}, rerank: { model } }, 'importance'],
      [{ recency: { nonsense: 1 } }, 'recency.nonsense'],
    ];
    for (const [more, field] of cases) {
      const error = await rejection(
        Promise.resolve().then(() => search(more)),
        'INVALID_ARGUMENT',
      );
      expect(error.detail.field, JSON.stringify(more)).toBe(field);
    }
    expect((await search({ recency: { field: 'day' } })).hits).toHaveLength(5);
  });
});
