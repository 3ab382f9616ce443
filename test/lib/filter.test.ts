import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FieldDefinition, type FilterExpression, Storage, type StorageRecord } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';

const fields: FieldDefinition[] = [
  { name: 'year', type: 'int', optional: true },
  { name: 'price', type: 'float', default: 1 },
  { name: 'author', type: 'string', optional: true },
  { name: 'draft', type: 'bool', default: false },
  { name: 'tags', type: 'set<string>', default: [] },
  { name: 'note', type: 'string', optional: true, filterable: false },
];
const beyond = 2n ** 53n + 1n;
const records: StorageRecord[] = [
  { id: 'a', text: 'first words', metadata: { year: 2001, tags: ['sea', 'night', 'sea'], author: 'Ada' } },
  { id: 'b', text: 'second words', metadata: { year: beyond, price: 2.5, draft: true, note: 'shown' } },
  { id: 'c', text: 'third words', metadata: { author: 'Bo', unknown: { ignored: true } } },
  { id: 'd', text: 'fourth words' },
];
const vector = new Float32Array([1, 0]);
let storage: Storage;

beforeAll(async () => {
  storage = await Storage.build(records, new Float32Array([1, 0, 0.9, 0.1, 0.8, 0.2, 0.7, 0.3]), 2, {
    fields,
  });
});
afterAll(() => storage.close());

async function found(filter: FilterExpression, variables?: Record<string, unknown>): Promise<string[]> {
  const all: string[][] = [];
  for (const mode of ['dense', 'lexical', 'hybrid'] as const) {
    const { hits } = await storage.search({ mode, vector, text: 'words', filter, variables });
    all.push(hits.map((hit) => hit.id).sort());
  }
  expect(all[1]).toEqual(all[0]);
  expect(all[2]).toEqual(all[0]);
  return all[0] as string[];
}

const field = (knowledge: string) => ({ knowledge });

describe('a filter', () => {
  test.each<[string, FilterExpression, string[]]>([
    ['compares integers', { '>=': [field('year'), 2001] }, ['a', 'b']],
    ['compares integers beyond 2^53 exactly', { '==': [field('year'), beyond] }, ['b']],
    ['and their neighbours too', { '==': [field('year'), beyond - 1n] }, []],
    ['takes defaults', { '==': [field('price'), 1] }, ['a', 'c', 'd']],
    ['promotes integers to floats', { '<': [field('price'), 2] }, ['a', 'c', 'd']],
    ['looks into sets', { in: ['sea', field('tags')] }, ['a']],
    ['looks into lists', { in: [field('author'), ['Bo', 'Cy']] }, ['c']],
    ['is false for a missing field', { '!=': [field('author'), 'Ada'] }, ['c']],
    ['which not inverts', { not: { '==': [field('author'), 'Ada'] } }, ['b', 'c', 'd']],
    [
      'joins with and',
      { and: [{ '==': [field('draft'), false] }, { in: [field('author'), ['Ada', 'Bo']] }] },
      ['a', 'c'],
    ],
    [
      'joins with or',
      { or: [{ '==': [field('draft'), true] }, { '==': [field('author'), 'Bo'] }] },
      ['b', 'c'],
    ],
    ['of an empty and lets all through', { and: [] }, ['a', 'b', 'c', 'd']],
    ['of an empty or lets none through', { or: [] }, []],
  ])('%s', async (_, filter, ids) => {
    expect(await found(filter)).toEqual(ids);
  });

  test('takes its variables from the search', async () => {
    const filter = { '==': [field('author'), { variable: 'who' }] } as FilterExpression;
    expect(await found(filter, { who: 'Ada' })).toEqual(['a']);
    const compiled = storage.compileFilter(filter);
    expect(compiled.variables).toEqual(['who']);
    const { hits } = await storage.search({ vector, filter: compiled, variables: { who: 'Bo' } });
    expect(hits.map((hit) => hit.id)).toEqual(['c']);
    const error = await rejection(storage.search({ vector, filter: compiled }), 'INVALID_ARGUMENT');
    expect(error.message).toContain('who');
    await compiled.close();
    await rejection(storage.search({ vector, filter: compiled, variables: { who: 'Bo' } }), 'CLOSED');
  });

  test('says in the plan how many records it let through', async () => {
    const { plan } = await storage.search({ vector, filter: { in: ['sea', field('tags')] } });
    expect(plan.dense).toMatchObject({ matched: 1, exact: true });
  });

  test.each<[string, unknown, RegExp]>([
    ['an unknown field', { '==': [field('yaer'), 1] }, /year/],
    ['a field that is display-only', { '==': [field('note'), 'x'] }, /note/],
    ['a value of another type', { '==': [field('year'), 'x'] }, /number/],
    ['an unknown operator', { '===': [field('year'), 1] }, /===/],
    ['what is no filter', 7, /./],
    [
      'a cycle',
      (() => {
        const loop: { not?: unknown } = {};
        loop.not = loop;
        return loop;
      })(),
      /deep|cycle/,
    ],
  ])('is refused for %s', (_, filter, message) => {
    expect(() => storage.compileFilter(filter as FilterExpression)).toThrow(message);
  });

  test('is refused by a storage without fields', async () => {
    await using bare = await Storage.build([{ id: 'a', text: 'b' }], vector, 2);
    expect(() => bare.compileFilter({ '==': [field('year'), 1] })).toThrow(/year/);
  });
});

describe('metadata', () => {
  test('comes back with its hits: typed, with defaults, sets sorted, BigInt only where needed', async () => {
    const { hits } = await storage.search({ vector });
    expect(hits.map((hit) => hit.metadata)).toEqual([
      { year: 2001, price: 1, author: 'Ada', draft: false, tags: ['night', 'sea'] },
      { year: beyond, price: 2.5, draft: true, tags: [], note: 'shown' },
      { price: 1, author: 'Bo', draft: false, tags: [] },
      { price: 1, draft: false, tags: [] },
    ]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['a string for an int', { year: 'x' }, /year/],
    ['a fraction for an int', { year: 1.5 }, /year/],
    ['an int beyond 64 bits', { year: 2n ** 64n }, /year/],
    ['NaN for a float', { price: Number.NaN }, /price/],
    ['a number in a set', { tags: ['a', 1] }, /tags/],
    ['null', { author: null }, /author/],
  ])('refuses %s and names record and field', async (_, metadata, message) => {
    const bad = [
      { id: 'good', text: 'x' },
      { id: 'bad', text: 'x', metadata },
    ];
    const error = await rejection(Storage.build(bad, new Float32Array(4), 2, { fields }), 'INVALID_ARGUMENT');
    expect(error.message).toMatch(message);
  });

  test.each<[string, unknown, RegExp]>([
    ['neither default nor optional', [{ name: 'a', type: 'int' }], /default|optional/],
    ['both', [{ name: 'a', type: 'int', default: 1, optional: true }], /default|optional/],
    ['a default of another type', [{ name: 'a', type: 'int', default: 'x' }], /default|int/],
    ['an unknown type', [{ name: 'a', type: 'date', optional: true }], /date/],
    [
      'a name twice',
      [
        { name: 'a', type: 'int', optional: true },
        { name: 'a', type: 'bool', optional: true },
      ],
      /a/,
    ],
  ])('refuses a field with %s', async (_, definition, message) => {
    const building = Storage.build(records, new Float32Array(8), 2, {
      fields: definition as FieldDefinition[],
    });
    expect((await rejection(building, 'INVALID_ARGUMENT')).message).toMatch(message);
  });
});
