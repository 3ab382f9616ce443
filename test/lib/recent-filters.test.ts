import { describe, expect, test } from 'vitest';
import { Storage } from '../../lib/index.js';
import type { Filter, FilterExpression } from '../../lib/search/filter.js';
import { RecentFilters } from '../../lib/search/recent-filters.js';

/** Counts what is compiled; a "filter" is the number of its compilation. */
function counting() {
  const compiled: unknown[] = [];
  const filters = new RecentFilters((expression) => {
    if ((expression as { wrong?: boolean }).wrong) throw new TypeError('wrong');
    return compiled.push(expression) as unknown as Filter;
  });
  const get = (expression: unknown) => filters.get(expression as FilterExpression) as unknown as number;
  return { compiled, get, filters };
}

const level = (value: unknown) => ({ '<=': [{ knowledge: 'level' }, value] });

describe('recent filters', () => {
  test('an expression that says the same is compiled once', () => {
    const { compiled, get } = counting();
    const expression = () => ({
      and: [level(3), { in: [{ variable: 'who' }, ['a', 'b']] }, { not: level(1.5) }],
    });
    for (let i = 0; i < 5; i++) expect(get(expression())).toBe(1);
    expect(compiled).toEqual([expression()]);
  });

  test('what differs in a value, its type, its place or its name is another one', () => {
    const { compiled, get } = counting();
    const different = [
      level(1),
      level(1n),
      level('1'),
      level(true),
      level(11),
      level(['a', 'b']),
      level(['ab']),
      level(['a', '1"b']),
      level(['a1"b']),
      level(['a"', 'b']),
      level([['a'], 'b']),
      level([1, 2]),
      level([12]),
      level('t'),
      level([]),
      { and: [level(1)] },
      { and: [level(1), level(1)] },
      { '<': [{ knowledge: 'level' }, 1] },
      { '<=': [{ variable: 'level' }, 1] },
      { '<=': [1, { knowledge: 'level' }] },
    ];
    for (const [i, expression] of different.entries()) expect(get(expression)).toBe(i + 1);
    expect(compiled).toEqual(different);
  });

  test('an expression object that was changed is another one', () => {
    const { get } = counting();
    const list: unknown[] = ['a'];
    const expression = { in: [{ knowledge: 'tag' }, list] };
    expect(get(expression)).toBe(1);
    list.push('b');
    expect(get(expression)).toBe(2);
    list.pop();
    expect(get(expression)).toBe(1);
  });

  test('the sixteen used last are kept', () => {
    const { compiled, get } = counting();
    for (let i = 1; i <= 16; i++) get(level(i));
    get(level(1));
    get(level(17));
    expect(compiled.length).toBe(17);
    expect(get(level(1))).toBe(1);
    expect(get(level(2))).toBe(18);
  });

  test('none are kept after clear()', () => {
    const { filters, get } = counting();
    get(level(1));
    filters.clear();
    expect(get(level(1))).toBe(2);
  });

  test('errors, long expressions and what is not plain data are not kept', () => {
    const { compiled, get } = counting();
    for (let i = 0; i < 3; i++) expect(() => get({ wrong: true })).toThrow('wrong');
    const cycle: unknown[] = [];
    cycle.push(cycle);
    for (const expression of [
      level('x'.repeat(3000)),
      level(Array.from({ length: 1_000_000 }, (_, i) => i)),
      level(new Date(0)),
      level(null),
      level(undefined),
      level(() => 1),
      level(Object.create(null)),
      level(new Float64Array(2)),
      cycle,
      null,
      undefined,
    ]) {
      const before = compiled.length;
      get(expression ?? level(Symbol('none')));
      get(expression ?? level(Symbol('none')));
      expect(compiled.length).toBe(before + 2);
    }
  });
});

test('a storage finds by an expression what it finds by the compiled one, search after search', async () => {
  const records = Array.from({ length: 50 }, (_, i) => ({ id: `${i}`, text: 'x', metadata: { level: i } }));
  const vectors = Float32Array.from({ length: 100 }, (_, i) => Math.sin(i));
  const fields = [{ name: 'level', type: 'int', default: 0 }] as const;
  const storage = await Storage.build(records, vectors, 2, { fields });
  const vector = new Float32Array([1, 0.5]);
  for (let i = 0; i < 60; i++) {
    const most = i % 20;
    const filter = { '<=': [{ knowledge: 'level' }, most] } as const;
    const variable = { '<=': [{ knowledge: 'level' }, { variable: 'most' }] } as const;
    const compiled = await storage.search({ vector, topK: 50, filter: storage.compileFilter(filter) });
    expect(compiled.hits.length).toBe(most + 1);
    expect(await storage.search({ vector, topK: 50, filter })).toEqual(compiled);
    const { hits } = await storage.search({ vector, topK: 50, filter: variable, variables: { most } });
    expect(hits).toEqual(compiled.hits);
  }
  await storage.close();
  await expect(storage.search({ vector, filter: { '<=': [{ knowledge: 'level' }, 3] } })).rejects.toThrow(
    /close/,
  );
});
