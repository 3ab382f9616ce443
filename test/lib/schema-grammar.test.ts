import { describe, expect, it } from 'vitest';
import { Work } from '../../lib/generation/languages/work.js';
import { schemaGrammar } from '../../lib/generation/schema/schema-grammar.js';
import type { LorekeepError } from '../../lib/index.js';
import { Gbnf } from '../helpers/gbnf.js';
import { random, testSeed } from '../helpers/random.js';

const person = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 5 },
    age: { type: 'integer', minimum: 0, maximum: 130 },
    tags: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 2 },
  },
  required: ['name'],
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

describe('the grammar of a JSON Schema', () => {
  /** A schema; JSON texts that it must take; values that it must not; what holds for everything it takes. */
  const cases: [
    name: string,
    schema: unknown,
    taken: string[],
    refused: string[],
    holds: (value: never) => boolean,
  ][] = [
    [
      'an object with optional properties',
      person,
      ['{"name": "Ann"}', '{"name":"Ann","age":7,"tags":["a","b"]}', '{\n  "name": "Ann",\n  "tags": []\n}'],
      [
        '{}',
        '{"age":7}',
        '{"name":""}',
        '{"name":"Johanna"}',
        '{"name":"Ann","age":131}',
        '{"name":"A","tags":["c"]}',
        '{"name":"A","x":1}',
      ],
      (value: { name: string; age?: number; tags?: string[] }) =>
        isObject(value) &&
        [...value.name].length >= 1 &&
        [...value.name].length <= 5 &&
        (value.age === undefined || (Number.isInteger(value.age) && value.age >= 0 && value.age <= 130)) &&
        (value.tags ?? []).length <= 2,
    ],
    ['anything', true, ['1', '"x"', '{"a":[null,true]}', '[]'], ['', 'x', '{a:1}', '[1,]'], () => true],
    [
      'any object',
      { type: 'object' },
      ['{}', '{"a":{"b":[1.5e3]}}'],
      ['[]', '1'],
      (value) => isObject(value),
    ],
    [
      'an object of any names',
      { type: 'object', additionalProperties: { type: 'boolean' } },
      ['{}', '{"a":true,"b":false}'],
      ['{"a":1}'],
      (value) => isObject(value) && Object.values(value).every((each) => typeof each === 'boolean'),
    ],
    [
      'nothing but {}',
      { type: 'object', additionalProperties: false },
      ['{}'],
      ['{"a":1}'],
      (value) => isObject(value),
    ],
    [
      'constants',
      { enum: ['a "b"', 1, null, { c: [] }] },
      ['"a \\"b\\""', '1', 'null', '{"c":[]}'],
      ['2', '"a"'],
      () => true,
    ],
    ['a typed enum', { type: 'string', enum: ['x', 1] }, ['"x"'], ['1'], (value) => value === 'x'],
    [
      'an integer of any size',
      { type: 'integer' },
      ['-999999999999999', '0', '12345678901234567890123456789012345678901234567890'],
      ['1.5', '01', '1e3', '-'],
      (value) => Number.isInteger(value),
    ],
    ['several types', { type: ['integer', 'null'] }, ['-12', 'null'], ['1.5', '"1"', '01'], () => true],
    [
      'numbers',
      { type: 'number' },
      ['0', '-1.25', '6e-3'],
      ['.5', '1.', 'NaN', '--1'],
      (value) => Number.isFinite(value),
    ],
    [
      'arrays of a length',
      { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 3 },
      ['[1,2]', '[1, 2, 3]'],
      ['[]', '[1]', '[1,2,3,4]', '["a",1]'],
      (value: unknown[]) => value.length >= 2 && value.length <= 3,
    ],
    [
      'arrays with a prefix',
      {
        type: 'array',
        prefixItems: [{ const: 'x' }, { type: 'integer' }],
        items: { type: 'null' },
        minItems: 1,
      },
      ['["x"]', '["x",1]', '["x",1,null,null]'],
      ['[]', '[1]', '["x",null]'],
      (value: unknown[]) => value[0] === 'x' && (value.length < 2 || Number.isInteger(value[1])),
    ],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'integer' }], items: false, minItems: 2 },
      ['[1,2]'],
      ['[1]', '[1,2,3]'],
      (value: unknown[]) => value.length === 2,
    ],
    [
      'alternatives',
      { anyOf: [{ type: 'string' }, { type: 'integer' }] },
      ['"a"', '1'],
      ['null'],
      () => true,
    ],
    [
      'exclusive alternatives',
      { oneOf: [{ type: 'string' }, { type: 'object' }] },
      ['"a"', '{}'],
      ['1'],
      () => true,
    ],
    [
      'a recursive schema',
      {
        $ref: '#/$defs/node',
        $defs: {
          node: {
            type: 'object',
            properties: {
              value: { type: 'integer' },
              next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
            },
            required: ['value', 'next'],
          },
        },
      },
      ['{"value":1,"next":null}', '{"value":1,"next":{"value":2,"next":null}}'],
      ['{"value":1}', '{"value":1,"next":{}}'],
      (value) => isObject(value),
    ],
    [
      'a date and time',
      { type: 'string', format: 'date-time' },
      ['"2024-02-28T23:59:59Z"'],
      ['"2024-13-01T00:00:00Z"', '"yesterday"'],
      (value) => !Number.isNaN(Date.parse(value)),
    ],
    [
      'a pattern',
      { type: 'string', pattern: '^[A-Z]{2}-\\d+$' },
      ['"AB-12"'],
      ['"A-1"', '"AB-"', '"xAB-1"'],
      (value) => /^[A-Z]{2}-\d+$/.test(value),
    ],
    [
      'a pattern anywhere',
      { type: 'string', pattern: 'b(an|el)a?' },
      ['"xbanx"', '"bela"'],
      ['"ba"'],
      (value) => /b(an|el)a?/.test(value),
    ],
    [
      'a pattern with quotes',
      { type: 'string', pattern: '^"[^a]*"$' },
      ['"\\"b\\""'],
      ['"b"'],
      (value) => /^"[^a]*"$/.test(value),
    ],
    [
      'odd property names',
      { type: 'object', properties: { 'a"b\\': { type: 'null' } }, required: ['a"b\\'] },
      ['{"a\\"b\\\\":null}'],
      ['{}'],
      (value) => 'a"b\\' in (value as object),
    ],
    [
      'a required name without a schema',
      { type: 'object', required: ['x'] },
      ['{"x":[1]}'],
      ['{}'],
      (value) => 'x' in (value as object),
    ],
    [
      'keywords without a type',
      { minLength: 2, maxLength: 2 },
      ['"ab"'],
      ['"a"', '1'],
      (value: string) => [...value].length === 2,
    ],
  ];

  it.each(cases)('takes %s, and nothing else', async (_, schema, taken, refused, holds) => {
    const grammar = new Gbnf(await schemaGrammar(schema));
    for (const text of taken) expect(grammar.accepts(text), text).toBe(true);
    for (const text of refused) expect(grammar.accepts(text), text).toBe(false);
    const next = random(testSeed);
    for (let round = 0; round < 100; round++) {
      const text = grammar.sample(next);
      expect(holds(JSON.parse(text) as never), `seed ${testSeed}: ${text}`).toBe(true);
    }
  });

  it('takes the bounds of 64 bits as numbers of JavaScript have them', async () => {
    const signed = new Gbnf(
      await schemaGrammar({ type: 'integer', minimum: -(2 ** 63), exclusiveMaximum: 2 ** 63 }),
    );
    for (const text of ['9223372036854775807', '-9223372036854775808'])
      expect(signed.accepts(text)).toBe(true);
    for (const text of ['9223372036854775808', '-9223372036854775809'])
      expect(signed.accepts(text)).toBe(false);
    const unsigned = new Gbnf(
      await schemaGrammar({ type: 'integer', minimum: 0, exclusiveMaximum: 2 ** 64 }),
    );
    expect(unsigned.accepts('18446744073709551615')).toBe(true);
    expect(unsigned.accepts('18446744073709551616')).toBe(false);
  });

  it('takes every integer within bounds, and none outside', async () => {
    const next = random(testSeed);
    const near = (size: number) => Math.floor((next() - 0.5) * 2 * size);
    for (let round = 0; round < 300; round++) {
      const size = 10 ** (1 + Math.floor(next() * 5));
      const [low, high] = [near(size), near(size)].sort((a, b) => a - b) as [number, number];
      const [least, most] = [round % 5 === 0 ? undefined : low, round % 7 === 0 ? undefined : high];
      const grammar = new Gbnf(
        await schemaGrammar({
          type: 'integer',
          ...(least !== undefined && { minimum: least }),
          ...(most !== undefined && { maximum: most }),
        }),
      );
      for (const value of [low - 1, low, low + 1, high - 1, high, high + 1, 0, -1, 1, near(size)]) {
        const within = value >= (least ?? -Infinity) && value <= (most ?? Infinity);
        expect(grammar.accepts(String(value)), `${value} in ${least}..${most}`).toBe(within);
      }
      expect(grammar.accepts('-0')).toBe(false);
    }
  });

  it.each([
    [{ type: 'number', minimum: '1' }, '/minimum'],
    [{ type: 'integer', multipleOf: 0 }, '/multipleOf'],
    [{ type: 'integer', multipleOf: 123_457 }, '/multipleOf'],
    [{ type: 'array', uniqueItems: true }, '/uniqueItems'],
    [{ not: {} }, ''],
    [{ properties: { 'a/b': { type: 'string', format: 'regex' } } }, '/properties/a~1b/format'],
    [{ type: 'object', properties: { a: { if: { items: {} } } } }, '/properties/a/if/items'],
    [{ allOf: [{ type: 'string' }, { type: 'integer' }] }, ''],
    [{ contains: {}, maxContains: 2 }, '/maxContains'],
    [{ $dynamicRef: '#x' }, '/$dynamicRef'],
    [{ allOf: [{ unevaluatedProperties: false }] }, '/allOf/0/unevaluatedProperties'],
    [{ minProperties: 3, patternProperties: { '^a': {} } }, '/minProperties'],
    [{ oneOf: [{ type: 'string' }, { minLength: 2 }] }, '/oneOf'],
    [{ $ref: 'https://example.com/x' }, '/$ref'],
    [{ $ref: '#/$defs/x' }, '/$ref'],
    [{ $ref: '#/%' }, '/$ref'],
    [{ $ref: `#${'/a'.repeat(3000)}` }, '/$ref'],
    [{ oneOf: Array.from({ length: 257 }, (_, n) => ({ const: n })) }, '/oneOf'],
    [{ oneOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] }, '/oneOf'],
    [{ oneOf: [{ type: 'object' }, { enum: [{}] }] }, '/oneOf'],
    [{ oneOf: [true, { enum: ['b'] }] }, '/oneOf'],
    [{ $ref: '#/$defs/x', $defs: { x: { $ref: '#/$defs/x' } } }, '/$defs/x/$ref'],
    [
      { $ref: '#/$defs/x', $defs: { x: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/x' }] } } },
      '/$defs/x/anyOf/1/$ref',
    ],
    [{ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, ''],
    [{ nullable: true, allOf: [{ $ref: '#' }] }, '/allOf/0'],
    [{ type: 'text' }, '/type'],
    [{ type: 'string', pattern: '(?<=a)b' }, '/pattern'],
    [{ type: 'string', pattern: '(a)\\1' }, '/pattern'],
    [{ type: 'string', pattern: '\\p{Nothing}' }, '/pattern'],
    [{ type: 'string', pattern: '((?!ab).)*' }, '/pattern'],
    [{ type: 'string', pattern: '^.*a.{40}$' }, '/pattern'],
    [{ type: 'string', pattern: '(a' }, '/pattern'],
    [{ type: 'string', minLength: 3, maxLength: 2 }, ''],
    [{ type: 'string', maxLength: 1e9 }, '/maxLength'],
    [{ items: { items: false }, type: 'array', minItems: -1 }, '/minItems'],
    [{ properties: { a: false }, required: ['a'] }, ''],
    [{ enum: [] }, '/enum'],
    [{ type: 'integer', minimum: 3, maximum: 2 }, ''],
    [7, ''],
    [
      { required: ['a'], additionalProperties: { type: 'number', minimum: '3' } },
      '/additionalProperties/minimum',
    ],
    [{ $ref: '#/$defs/p%25q', $defs: { 'p%q': { nott: {} } } }, '/$defs/p%q/nott'],
    [{ oneOf: [{ const: { a: 1, b: 2 } }, { const: { b: 2, a: 1 } }] }, '/oneOf'],
  ])('%j is refused at %j', async (schema, pointer) => {
    let error: LorekeepError | undefined;
    try {
      await schemaGrammar(schema);
    } catch (thrown) {
      error = thrown as LorekeepError;
    }
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', detail: { field: 'schema', pointer } });
  });

  it('refuses negations that lead back to themselves, and those of a power of two', async () => {
    const negated = (definitions: object) => ({ not: { $ref: '#/$defs/d0' }, $defs: definitions });
    const refer = (n: number) => ({ $ref: `#/$defs/d${n}` });
    for (const keyword of ['allOf', 'anyOf', 'not'])
      await expect(
        schemaGrammar(negated({ d0: { [keyword]: keyword === 'not' ? refer(0) : [refer(0)] } })),
      ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    const doubled = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`d${n}`, { allOf: [refer(n + 1), refer(n + 1)] }]),
    );
    await expect(schemaGrammar(negated({ ...doubled, d40: { const: 1 } }))).rejects.toThrow(/too much work/);
  });

  it('compares the alternatives of a long oneOf once', async () => {
    const options = Array.from({ length: 250 }, (_, n) => ({ const: `c${n}` }));
    expect(await schemaGrammar({ oneOf: options })).toContain('c249');
    await expect(schemaGrammar({ oneOf: [...options, { const: 'c7' }] })).rejects.toThrow(/oneOf/);
  });

  it('is bounded for schemas of hostile size', async () => {
    const wide = {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 6000 }, (_, i) => [`p${i}`, {}])),
    };
    await expect(schemaGrammar(wide)).rejects.toThrow('takes too much work');
    let deep: object = {};
    for (let i = 0; i < 4000; i++) deep = { type: 'array', items: deep };
    await expect(schemaGrammar(deep)).rejects.toThrow(/nested deeper/);
    const long = { enum: Array.from({ length: 3000 }, (_, i) => `${i}${'x'.repeat(500)}`) };
    await expect(schemaGrammar(long)).rejects.toThrow(/characters/);
    const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
    expect(await schemaGrammar({ enum: numbers(20_000) })).toContain('"19999"');
    await expect(schemaGrammar({ enum: numbers(20_001) })).rejects.toThrow(/20000 constants/);
    await expect(
      schemaGrammar({ anyOf: [{ enum: numbers(15_000) }, { enum: numbers(15_000) }] }),
    ).rejects.toThrow(/20000 constants/);
    await expect(schemaGrammar({ const: { values: numbers(100_000) } })).rejects.toThrow(/100000 values/);
    let nested: unknown = 1;
    for (let i = 0; i < 300; i++) nested = [nested];
    await expect(schemaGrammar({ const: nested })).rejects.toThrow(/nested deeper than 256/);
    // References that lead to each other on every way through a net.
    const net = Object.fromEntries(
      Array.from({ length: 50 * 20 }, (_, n) => {
        const next = 20 * (Math.floor(n / 20) + 1);
        const targets = Array.from({ length: 20 }, (_, at) => ({ $ref: `#/$defs/n${next + at}` }));
        return [`n${n}`, next === 1000 ? { type: 'null' } : { anyOf: targets }];
      }),
    );
    await expect(schemaGrammar({ $ref: '#/$defs/n0', $defs: net })).rejects.toThrow(/too much work/);
    const names = Array.from({ length: 1500 }, (_, n) => `p${n}`);
    const needed = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'null' }])),
      required: names,
    };
    expect(await schemaGrammar(needed)).toContain('p1499');
    // Each definition used twice by the next one: not copied, but shared.
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `d${i}`,
        i === 0
          ? { type: 'null' }
          : { type: 'array', prefixItems: [{ $ref: `#/$defs/d${i - 1}` }, { $ref: `#/$defs/d${i - 1}` }] },
      ]),
    );
    expect((await schemaGrammar({ $ref: '#/$defs/d29', $defs })).length).toBeLessThan(20_000);
  });

  // The pieces of work between which the event loop serves others.
  it('is written in pieces, of which none makes a rule of another one', async () => {
    // Numbers that are left out are found by an automaton.
    const rate = (n: number) => ({
      type: 'integer',
      minimum: n * 1234567 + 1,
      maximum: n * 7654321 + 10,
      not: { const: n * 1234567 + 2 },
    });
    const properties = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`p${n}`, rate(n)]));
    const list = { ...rate(1), not: { enum: [1234569] } };
    const schema = {
      type: 'object',
      properties: { ...properties, list: { anyOf: [list, { $ref: '#' }] } },
      required: ['p24'],
      additionalProperties: false,
    };
    let turns = 0;
    let converting = true;
    const count = () => {
      turns++;
      if (converting) setImmediate(count);
    };
    setImmediate(count);
    const grammar = new Gbnf(await schemaGrammar(schema));
    converting = false;
    expect(turns).toBeGreaterThan(1);
    const last = `"p24":${24 * 1234567 + 1}`;
    expect(grammar.accepts(`{"p1":1234568,${last}}`)).toBe(true);
    expect(grammar.accepts(`{"p1":1234567,${last}}`)).toBe(false);
    expect(grammar.accepts(`{${last},"list":{${last},"list":1234568}}`)).toBe(true);
    expect(grammar.accepts(`{${last},"list":{${last},"list":1234569}}`)).toBe(false);
    expect(await schemaGrammar(schema)).toBe(await schemaGrammar(structuredClone(schema)));
  });

  it('shares the work of a grammar with the other schemas of it, and waits for a turn before each', async () => {
    const work = new Work();
    const schema = { type: 'integer', multipleOf: 397 };
    let turns = 0;
    let converting = true;
    const count = () => {
      turns++;
      if (converting) setImmediate(count);
    };
    setImmediate(count);
    const convert = async () => {
      for (let n = 0; n < 100; n++) await schemaGrammar(schema, { name: `a${n}`, work });
    };
    await expect(convert()).rejects.toThrow('takes too much work');
    converting = false;
    expect(turns).toBeGreaterThan(3);
    await schemaGrammar(schema);
  });

  it('takes a bounded amount of work', async () => {
    const multiple = { type: 'integer', multipleOf: 9973 };
    await expect(schemaGrammar(multiple)).rejects.toThrow('/multipleOf: takes too much work');
    const stopped = new AbortController();
    const conversion = schemaGrammar(multiple, { signal: stopped.signal });
    stopped.abort();
    await expect(conversion).rejects.toMatchObject({ code: 'CANCELLED' });
    const words = Array.from({ length: 200 }, (_, n) => `word ${n * 7919}`);
    const passwords = '^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d)(?=.*[!-/]).{8,64}$';
    const properties = (count: number, of: (n: number) => object) => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, of(n)])),
    });
    const scripts = ['Latin', 'Greek', 'Cyrillic', 'Han', 'Hangul', 'Arabic', 'Hebrew', 'Thai'];
    for (const ordinary of [
      { type: 'string', format: 'uri', minLength: 1, maxLength: 2083 },
      { type: 'string', pattern: `^[${scripts.map((name) => `\\p{Script=${name}}`).join('')}\\p{Nd} ]*$` },
      { type: 'string', pattern: "^[\\p{L}\\p{M}\\p{N} .'-]{1,100}$" },
      { type: 'string', enum: Array.from({ length: 10_000 }, (_, n) => `word ${n}`) },
      properties(50, (n) => ({ type: 'number', minimum: -n, maximum: 1000 * n + 0.5 })),
      properties(100, (n) => ({ type: 'integer', minimum: n, maximum: 1000 + n })),
      properties(200, () => ({ type: 'string', maxLength: 200 })),
      properties(60, (n) => ({ type: 'string', pattern: `^[A-Z]{2}-${n}[0-9]{1,8}$` })),
      properties(27, (n) => ({ type: 'string', format: ['date-time', 'email', 'ipv6'][n % 3] })),
      { type: 'integer', multipleOf: 3600 },
      { type: 'integer', multipleOf: 10_000_000 },
      { type: 'number', multipleOf: 0.01, minimum: 0, maximum: 1e6 },
      { type: 'string', not: { enum: words } },
      { type: 'string', pattern: passwords },
      { type: 'string', pattern: '^[A-Z][a-z]{0,50}$' },
      { type: 'string', pattern: '^[^@ ]{1,64}@[a-z0-9-]{1,63}(\\.[a-z0-9-]{1,63}){1,4}$' },
    ])
      await schemaGrammar(ordinary);
  });

  it('of integers that end in zeros has them after a multiple of the rest', async () => {
    const grammar = new Gbnf(await schemaGrammar({ type: 'integer', multipleOf: 1200 }));
    for (const value of [0, 1200, -1200, 12_000, 120_000, 3600, 10_800])
      expect(grammar.accepts(String(value)), String(value)).toBe(true);
    for (const value of [1, 100, 1000, 1300, -600, 1201, 12_100])
      expect(grammar.accepts(String(value)), String(value)).toBe(false);
    for (const text of ['00', '-0', '01200', '1200.0']) expect(grammar.accepts(text), text).toBe(false);
  });

  it('leaves out names and numbers, whatever else an enum has', async () => {
    const names = { propertyNames: { enum: ['a', 5, null] }, additionalProperties: true };
    const object = new Gbnf(await schemaGrammar({ type: 'object', ...names }));
    expect([object.accepts('{"a":1}'), object.accepts('{"5":1}')]).toEqual([true, false]);
    const excluded = [0, 12, 1.5, -3, 'x', null];
    const number = new Gbnf(await schemaGrammar({ type: 'number', not: { enum: excluded } }));
    for (const text of ['0', '12', '12.0', '1.5', '1.500', '-3'])
      expect(number.accepts(text), text).toBe(false);
    for (const text of ['1', '120', '15', '1.05', '1.25', '3', '-30', '0.5'])
      expect(number.accepts(text), text).toBe(true);
  });
});
