import { describe, expect, it } from 'vitest';
import type { FieldFacts } from '../../src/doors/page/field-facts.js';
import { FieldCounts } from '../../src/doors/page/field-facts.js';
import { commonFields, controlOf, filterOf } from '../../web/page/filters.js';

const field = (facts: Partial<FieldFacts> & { name: string }): FieldFacts => ({
  ...{ type: 'string', values: [], more: false },
  ...facts,
});

describe('filters of the page', () => {
  const kind = field({
    name: 'kind',
    values: [
      { value: 'a', records: 2 },
      { value: 'b', records: 1 },
    ],
  });
  const tags = field({ name: 'tags', type: 'set<string>', values: [{ value: 'x', records: 1 }] });
  const year = field({ name: 'year', type: 'int', more: true, least: 1990, greatest: 2020 });
  const at = field({
    name: 'at',
    type: 'int',
    format: 'date-time',
    more: true,
    least: '2020-01-01T00:00:00Z',
  });

  it('nothing chosen is no filter', () => {
    expect(filterOf([kind, year], {})).toBeUndefined();
    expect(filterOf([kind], { kind: { any: [] }, gone: { any: ['a'] } })).toBeUndefined();
  });

  it('one value is compared, several are alternatives, fields are combined', () => {
    expect(filterOf([kind], { kind: { any: ['a'] } })).toEqual({ '==': [{ knowledge: 'kind' }, 'a'] });
    expect(filterOf([kind, tags], { kind: { any: ['a', 'b'] }, tags: { any: ['x'] } })).toEqual({
      and: [
        { or: [{ '==': [{ knowledge: 'kind' }, 'a'] }, { '==': [{ knowledge: 'kind' }, 'b'] }] },
        { in: ['x', { knowledge: 'tags' }] },
      ],
    });
  });

  it('a range has numbers, and a day ends at its end', () => {
    expect(filterOf([year], { year: { least: '2000', greatest: '2010' } })).toEqual({
      and: [{ '>=': [{ knowledge: 'year' }, 2000] }, { '<=': [{ knowledge: 'year' }, 2010] }],
    });
    expect(filterOf([at], { at: { greatest: '2021-05-06' } })).toEqual({
      '<=': [{ knowledge: 'at' }, '2021-05-06T23:59:59.999Z'],
    });
  });

  it('a field with one value has no control, one with many has its beginning', () => {
    expect(controlOf(tags)).toBeUndefined();
    expect(controlOf(kind)).toBe('boxes');
    expect(controlOf(field({ name: 'path', more: true, values: kind.values }))).toBe('prefix');
    expect(controlOf(year)).toBe('range');
  });

  it('several storages share the fields of the same name and type', () => {
    const other = field({ name: 'kind', values: [{ value: 'b', records: 5 }] });
    const wide = { ...year, least: 1900, greatest: 2000 };
    const shared = commonFields([
      [kind, year, tags],
      [other, wide, { ...tags, type: 'string' }],
    ]);
    expect(shared.map(({ name }) => name)).toEqual(['kind', 'year']);
    expect(shared[0]?.values).toEqual([
      { value: 'b', records: 6 },
      { value: 'a', records: 2 },
    ]);
    expect(shared[1]).toMatchObject({ least: 1900, greatest: 2020 });
  });
});

describe('facts of fields', () => {
  type Fields = ConstructorParameters<typeof FieldCounts>[0];
  type Records = Parameters<FieldCounts['add']>[0];

  async function fieldFacts(fields: Fields, records: Records) {
    const counts = new FieldCounts(fields);
    await counts.add(records);
    return counts.facts(true);
  }

  it('counts texts, spans numbers, and leaves out fields that no filter may name', async () => {
    const records = [
      { metadata: { kind: 'a', tags: ['x', 'y'], year: 3, secret: 's' } },
      { metadata: { kind: 'a', tags: ['y'], year: -1 } },
      {},
    ];
    const fields = [
      { name: 'kind', type: 'string' },
      { name: 'tags', type: 'set<string>' },
      { name: 'year', type: 'int' },
      { name: 'secret', type: 'string', filterable: false },
    ] as const;
    expect(await fieldFacts(fields, records)).toEqual([
      { name: 'kind', type: 'string', values: [{ value: 'a', records: 2 }], more: false },
      {
        name: 'tags',
        type: 'set<string>',
        values: [
          { value: 'y', records: 2 },
          { value: 'x', records: 1 },
        ],
        more: false,
      },
      { name: 'year', type: 'int', values: [], more: true, least: -1, greatest: 3 },
    ]);
  });

  it('many and long values are bounded', async () => {
    const records = Array.from({ length: 5000 }, (_, n) => ({
      metadata: { id: n === 7 ? 'x'.repeat(300) : `v${n}` },
    }));
    const [facts] = await fieldFacts([{ name: 'id', type: 'string' }], records);
    expect(facts?.values).toHaveLength(40);
    expect(facts?.more).toBe(true);
  });
});
