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
    const { hits } = await storage.search({
      mode,
      ...(mode !== 'lexical' && { vector }),
      text: 'words',
      filter,
      variables,
    });
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
    ['asks whether a field is there', { exists: field('author') }, ['a', 'c']],
    ['or is not', { author: { exists: false } }, ['b', 'd']],
    ['finds a default there', { exists: field('tags') }, ['a', 'b', 'c', 'd']],
    ['compares the beginning of a string', { starts_with: [field('author'), 'A'] }, ['a']],
    ['which may be empty', { author: { starts_with: '' } }, ['a', 'c']],
    ['has a short form', { year: { '>=': 2001, '<': 3000 } }, ['a']],
    ['which takes lists', { author: { in: ['Ada', 'Bo'] } }, ['a', 'c']],
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

  test('takes variables in every operator', async () => {
    const filter: FilterExpression = {
      or: [{ author: { starts_with: { variable: 'start' } } }, { year: { '==': { variable: 'year' } } }],
    };
    expect(await found(filter, { start: 'B', year: 2001 })).toEqual(['a', 'c']);
    const error = await rejection(
      storage.search({ vector, filter, variables: { start: 1, year: 1 } }),
      'INVALID_ARGUMENT',
    );
    expect(error.message).toContain('$.or[0].author.starts_with.variable');
  });

  test('takes lists of at most 100,000 elements, in itself and in variables', async () => {
    const list = (count: number) => Array.from({ length: count }, (_, n) => (n === 7 ? 'Bo' : `n${n}`));
    const variable: FilterExpression = { in: [field('author'), { variable: 'list' }] };
    expect(await found({ in: [field('author'), list(100_000)] })).toEqual(['c']);
    expect(await found(variable, { list: list(100_000) })).toEqual(['c']);
    for (const [filter, variables, name] of [
      [{ in: [field('author'), list(100_001)] }, {}, 'filter'],
      [variable, { list: list(100_001) }, 'variables'],
    ] as const) {
      const search = storage.search({ vector, filter: filter as FilterExpression, variables });
      const { message } = await rejection(search, 'INVALID_ARGUMENT');
      expect(message).toContain(
        `${name}: an array in it has 100001 elements, and at most 100000 are expected`,
      );
    }
  });

  test('keeps strings of every length and script as they are', async () => {
    const names = [
      '',
      'ä',
      'x'.repeat(123),
      'x'.repeat(124),
      'x'.repeat(127),
      'x'.repeat(128),
      'é'.repeat(62),
    ];
    names.push(
      'é'.repeat(63),
      'é'.repeat(64),
      '蜜'.repeat(41),
      '蜜'.repeat(42),
      '𝄞'.repeat(31),
      '𝄞'.repeat(32),
    );
    names.push('x'.repeat(5000), 'a\0b', '\ud800');
    const all = names.map((name, n) => ({ id: `${n}`, text: 'words', metadata: { author: name } }));
    const vectors = new Float32Array(2 * all.length).fill(1);
    await using many = await Storage.build(all, vectors, 2, { fields });
    for (const [n, name] of names.entries()) {
      const { hits } = await many.search({ vector, filter: { author: { '==': name } } });
      expect(hits.map(({ id }) => id)).toEqual([`${n}`]);
    }
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

describe('dates', () => {
  const dated: FieldDefinition[] = [
    { name: 'day', type: 'int', format: 'date', optional: true },
    { name: 'at', type: 'int', format: 'date-time', default: '2000-01-01' },
  ];
  const build = (metadata: Record<string, unknown>[]) =>
    Storage.build(
      metadata.map((one, i) => ({
        id: String(i),
        text: 'words',
        metadata: one as StorageRecord['metadata'],
      })),
      new Float32Array(2 * metadata.length).fill(1),
      2,
      { fields: dated },
    );

  test('are written as ISO texts or numbers, and read as texts', async () => {
    await using dates = await build([
      { day: '2024-02-29', at: '2024-02-29T13:00:00.25+01:00' },
      { day: -1 },
      { at: 0 },
    ]);
    const { hits } = await dates.search({ vector });
    expect(hits.map((hit) => hit.metadata)).toEqual([
      { day: '2024-02-29', at: '2024-02-29T12:00:00.250Z' },
      { day: '1969-12-31', at: '2000-01-01T00:00:00.000Z' },
      { at: '1970-01-01T00:00:00.000Z' },
    ]);
    const ids = async (filter: FilterExpression, variables?: Record<string, unknown>) =>
      (await dates.search({ vector, filter, variables })).hits.map((hit) => hit.id);
    expect(await ids({ day: { '<': '2000-01-01' } })).toEqual(['1']);
    expect(
      await ids({ at: { '>': '2000-01-01', '<=': { variable: 'end' } } }, { end: '2024-03-01' }),
    ).toEqual(['0']);
    expect(await ids({ day: { in: { variable: 'days' } } }, { days: ['2024-02-29', 5] })).toEqual(['0']);
    const error = await rejection(
      dates.search({ vector, filter: { day: { '<': { variable: 'end' } } }, variables: { end: 'soon' } }),
      'INVALID_ARGUMENT',
    );
    expect(error.message).toMatch(/"soon"/);
    expect(() => dates.compileFilter({ day: { '<': '2023-02-29' } })).toThrow(/2023-02-29/);
  });

  test.each([
    { day: '2023-02-29' },
    { day: 3_000_000 },
    { day: '2024-01-01T00:00:00Z' },
    { at: '2024-01-01T10:00' },
  ])('refuses %j', async (metadata) => {
    const error = await rejection(build([metadata]), 'INVALID_ARGUMENT');
    expect(error.message).toMatch(/such as "2024-05-31/);
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
