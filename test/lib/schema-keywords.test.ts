import { describe, expect, it } from 'vitest';
import { checkGrammar, matchGrammar, schemaGrammar } from '../../lib/internal.js';

type Example = [schema: unknown, valid: unknown[], invalid: unknown[]];

/** By keyword of draft 2020-12; docs/reference/json-schema.md lists what is refused. */
const examples: Record<string, Example> = {
  multipleOf: [{ type: 'number', multipleOf: 0.25 }, [0.25, 1, 1.75, -2.5], [0.3, 0.255]],
  'multipleOf twice': [
    { type: 'number', allOf: [{ multipleOf: 0.4 }, { multipleOf: 1.5 }, { multipleOf: 20 }] },
    [0, 60, -60, 120],
    [6, 12, 20, 40, 0.4, 1.5, 6.5],
  ],
  'multipleOf with bounds': [
    { type: 'integer', multipleOf: 7, minimum: 100, maximum: 120 },
    [105, 112, 119],
    [98, 110, 126],
  ],
  'bounds of many digits': [{ type: 'integer', minimum: 1e30, exclusiveMaximum: 1e30 + 2e15 }, [], [1, 5e15]],
  exclusiveMinimum: [
    { type: 'number', exclusiveMinimum: -0.5, exclusiveMaximum: 0.5 },
    [-0.499, 0, 0.499],
    [-0.5, 0.5, 0.51],
  ],
  minimum: [{ type: 'number', minimum: 9.75, maximum: 10.5 }, [9.75, 9.8, 10, 10.5], [9.74, 10.51, 1]],
  propertyNames: [
    { type: 'object', propertyNames: { pattern: '^[a-z]{2}$' } },
    [{}, { ab: 1 }],
    [{ abc: 1 }, { AB: 1 }],
  ],
  patternProperties: [
    {
      properties: { foo: { type: 'integer' } },
      patternProperties: { '^f': { minimum: 3 }, o$: { type: 'integer' } },
      additionalProperties: false,
    },
    [{ foo: 3 }, { foo: 4, fab: 3.5, zoo: 1 }, {}],
    [{ foo: 2 }, { bar: 1 }, { zoo: 1.5 }, { fo: 3.5 }],
  ],
  additionalProperties: [
    { properties: { a: {} }, additionalProperties: { type: 'boolean' } },
    [{ a: 1 }, { a: 1, b: true }, { b: false }],
    [{ b: 1 }],
  ],
  minProperties: [
    { type: 'object', properties: { a: {}, b: {}, c: {} }, minProperties: 2, maxProperties: 2 },
    [
      { a: 1, b: 1 },
      { b: 1, c: 1 },
      { a: 1, c: 1 },
    ],
    [{}, { a: 1 }, { a: 1, b: 1, c: 1 }],
  ],
  'maxProperties of any names': [{ type: 'object', maxProperties: 1 }, [{}, { x: 1 }], [{ x: 1, y: 2 }]],
  contains: [
    { type: 'array', items: { type: 'integer' }, contains: { minimum: 5 } },
    [[5], [1, 7, 2]],
    [[], [1, 2], ['x', 5]],
  ],
  minContains: [
    { type: 'array', contains: { const: 1 }, minContains: 2 },
    [
      [1, 1],
      [1, 'x', 1, 2],
    ],
    [[1], [2, 2]],
  ],
  uniqueItems: [
    { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true, minItems: 1 },
    [['a'], ['a', 'c'], ['a', 'b', 'c']],
    [[], ['a', 'a']],
  ],
  prefixItems: [
    { type: 'array', prefixItems: [{ type: 'string' }], items: false },
    [[], ['a']],
    [[1], ['a', 1]],
  ],
  'items as an array': [
    { items: [{ type: 'string' }], additionalItems: { type: 'null' } },
    [['a'], ['a', null]],
    [[1], ['a', 1]],
  ],
  allOf: [
    {
      allOf: [
        { properties: { a: { type: 'integer' } }, required: ['a'] },
        { properties: { a: { minimum: 3 }, b: {} } },
      ],
    },
    [{ a: 3 }, { a: 9, b: 'x' }],
    [{ a: 2 }, { b: 1 }, { a: 3.5 }],
  ],
  'allOf with additionalProperties': [
    { allOf: [{ properties: { a: {} }, additionalProperties: false }, { properties: { b: {} } }] },
    [{}, { a: 1 }],
    [{ b: 1 }],
  ],
  'anyOf beside others': [
    {
      type: 'object',
      properties: { a: { type: 'integer' } },
      anyOf: [{ required: ['a'] }, { properties: { b: { type: 'null' } }, required: ['b'] }],
    },
    [{ a: 1 }, { b: null }, { a: 1, b: null }],
    [{}, { a: 'x' }, { b: 1 }],
  ],
  'oneOf by bounds': [
    {
      oneOf: [
        { type: 'integer', maximum: 3 },
        { type: 'integer', minimum: 10 },
      ],
    },
    [3, 10],
    [4, 9],
  ],
  'oneOf by patterns': [
    {
      oneOf: [
        { type: 'string', pattern: '^a' },
        { type: 'string', pattern: '^b' },
      ],
    },
    ['ab', 'ba'],
    ['c'],
  ],
  'oneOf by properties': [
    {
      oneOf: [
        { properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: {} }, required: ['b'] },
      ],
    },
    [{ a: 'x' }, { b: 1 }],
    [{}, { a: 1 }],
  ],
  not: [{ type: 'string', not: { enum: ['a', 'b'] } }, ['c', 'aa', ''], ['a', 'b']],
  'not a pattern': [
    { type: 'string', not: { pattern: '^secret' }, maxLength: 9 },
    ['', 'a secret'],
    ['secret', 'secrets'],
  ],
  'not a type': [{ not: { type: ['object', 'array', 'null'] } }, [1, 'x', true], [{}, [], null]],
  'not required': [
    { type: 'object', properties: { a: {}, b: {} }, not: { required: ['a', 'b'] } },
    [{}, { a: 1 }, { b: 1 }],
    [{ a: 1, b: 1 }],
  ],
  'not a number': [{ type: 'integer', not: { const: 5 }, minimum: 4, maximum: 6 }, [4, 6], [5]],
  if: [
    {
      type: 'object',
      properties: { kind: { enum: ['x', 'y'] }, size: { type: 'integer' } },
      required: ['kind'],
      if: { properties: { kind: { const: 'x' } }, required: ['kind'] },
      ...JSON.parse('{"then": {"required": ["size"]}}'),
    },
    [{ kind: 'y' }, { kind: 'x', size: 1 }, { kind: 'y', size: 1 }],
    [{ kind: 'x' }, { size: 1 }],
  ],
  dependentRequired: [
    { type: 'object', properties: { a: {}, b: {} }, dependentRequired: { a: ['b'] } },
    [{}, { b: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }],
  ],
  dependentSchemas: [
    {
      type: 'object',
      properties: { a: {}, b: {} },
      dependentSchemas: { a: { properties: { b: { type: 'null' } } } },
    },
    [{ a: 1 }, { a: 1, b: null }, { b: 5 }],
    [{ a: 1, b: 5 }],
  ],
  unevaluatedProperties: [
    { properties: { a: {} }, allOf: [{ properties: { b: {} } }], unevaluatedProperties: { type: 'integer' } },
    [
      { a: 'x', b: 'y' },
      { a: 'x', c: 1 },
    ],
    [{ c: 'x' }],
  ],
  $id: [
    {
      $id: 'https://example.com/outer',
      type: 'object',
      properties: { a: { $ref: 'inner' }, b: { $ref: '#/$defs/x' }, c: { $ref: '#here' } },
      $defs: {
        x: { type: 'null' },
        i: { $id: 'inner', $ref: '#/$defs/x', $defs: { x: { type: 'boolean' } } },
        h: { $anchor: 'here', type: 'integer' },
      },
    },
    [{ a: true, b: null, c: 1 }],
    [{ a: null }, { b: true }, { c: 'x' }],
  ],
  'references without an end': [
    {
      type: 'object',
      properties: {
        word: { anyOf: [{ $ref: '#/$defs/Endless' }, { type: 'string' }] },
        x: { $ref: '#/$defs/Endless' },
      },
      $defs: {
        Endless: { type: 'array', items: { $ref: '#/$defs/Inner' }, minItems: 1 },
        Inner: { type: 'object', properties: { y: { $ref: '#/$defs/Endless' } }, required: ['y'] },
      },
    },
    [{ word: 'a' }, {}],
    [{ word: [] }, { x: [] }],
  ],
  const: [{ const: { a: [1, 'x'] } }, [{ a: [1, 'x'] }], [{ a: [1] }, {}]],
  'const of a type': [{ type: 'integer', enum: [1, 'a', 2.5, 3], minimum: 2 }, [3], [1, 'a', 2.5]],
  'pattern of many states with a length': [
    { type: 'string', pattern: '^(a{1,9}b{1,9}c{1,9}){1,60}$', maxLength: 500 },
    ['abc'],
    ['ab', 'abca', ''],
  ],
  'format with bounds': [
    { type: 'string', format: 'date', pattern: '^2025', maxLength: 10 },
    ['2025-12-31'],
    ['2024-12-31', '2025-02-29'],
  ],
};

describe('of draft 2020-12', () => {
  it.each(Object.entries(examples))('%s is enforced', async (_, [schema, valid, invalid]) => {
    const grammar = await schemaGrammar(schema);
    await checkGrammar(grammar);
    const matches = async (value: unknown) =>
      (await matchGrammar(grammar, JSON.stringify(value))) === 'conforms';
    for (const value of valid) expect(await matches(value), JSON.stringify(value)).toBe(true);
    for (const value of invalid) expect(await matches(value), JSON.stringify(value)).toBe(false);
  });
});

/** By format: strings of that form, and others. */
const formats: Record<string, [valid: string[], invalid: string[]]> = {
  date: [
    ['2025-12-31', '2024-02-29', '2000-02-29', '2026-04-30', '2026-01-29'],
    ['2025-02-29', '1900-02-29', '2025-04-31', '2025-13-01', '2025-00-10', '2025-01-00', '2025-1-1'],
  ],
  time: [
    ['00:00:00Z', '23:59:59.123+05:30', '12:00:00-08:00'],
    ['24:00:00Z', '12:60:00Z', '12:00:00', '12:00Z'],
  ],
  'date-time': [
    ['2024-02-29T23:59:59Z', '2025-12-31T00:00:00.5+14:00'],
    ['2025-02-29T00:00:00Z', '2025-01-01 00:00:00Z'],
  ],
  duration: [
    ['P1Y2M3DT4H5M6S', 'PT1H', 'P3W', 'P10D'],
    ['P', 'PT', '1D', 'P1S', 'P1W2D', 'P1H'],
  ],
  email: [
    ['a@b.example', 'joe.doe+x@example.com'],
    ['a', '@b', 'a@', '.a@b.c', 'a..b@c.d', 'a@-b.c', `${'a'.repeat(65)}@b.c`],
  ],
  hostname: [
    ['example.com', 'a', 'x-1.y'],
    ['-a', 'a-', 'a..b', '.a', 'a_b', 'a'.repeat(64)],
  ],
  ipv4: [
    ['0.0.0.0', '255.249.199.99'],
    ['256.1.1.1', '1.2.3', '01.2.3.4', '1.2.3.4.5'],
  ],
  ipv6: [
    ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', 'fe80::a:b'],
    ['1', '1:2:3:4:5:6:7:8:9', '1::2::3', '12345::', ':1::'],
  ],
  ipv4network: [
    ['10.0.0.0/8', '10.128.0.0/9', '192.168.4.0/22', '1.2.3.4/32', '1.2.3.4', '0.0.0.0/0'],
    ['10.0.0.1/8', '192.168.5.0/22', '1.2.3.4/33', '1.2.3.0/'],
  ],
  ipv6network: [
    ['2001:db8::/32', 'fe80::/16', '::/0', '::1', '::1/128'],
    ['2001:db8::1/64', '2001:db8::/31', '::/129'],
  ],
  ipvanyinterface: [
    ['10.0.0.1/8', 'fe80::1/64', '::1'],
    ['10.0.0.1/33', 'fe80::1/129'],
  ],
  'multi-host-uri': [
    ['postgres://u:p@a.b:5432,c:5433/d?e=f', 'mongodb://a/b'],
    ['urn:a', 'postgres:///a', 'postgres://a,/b'],
  ],
  'name-email': [
    ['Ann Lee <ann@x.org>', 'Jörg <j@x.de>', 'a@b.org'],
    ['Ann <x>', ' <a@b.org>', 'Ann <a@b.org'],
  ],
  color: [
    ['#fff', '#A0B1C2'],
    ['fff', '#ffff'],
  ],
  fraction: [
    ['3/7', '-2'],
    ['3/0', '1/'],
  ],
  uri: [
    ['https://u@example.com:80/a/b?c=d#e', 'mailto:a@b.c', 'urn:x:y', 'file:///a'],
    ['//a', '/a', 'a b:c', 'http://a b', 'a:%zz'],
  ],
  'uri-reference': [
    ['/a', '../b', '#c', '', 'https://x'],
    ['a b', '\\\\x', '%'],
  ],
  uuid: [
    ['550E8400-e29b-41d4-a716-446655440000'],
    ['550e8400e29b41d4a716446655440000', '550e8400-e29b-41d4-a716-44665544000g'],
  ],
  'json-pointer': [
    ['', '/a~0b/~1'],
    ['a', '/~2', '/~'],
  ],
  base64: [
    ['', 'YQ==', 'YWI=', 'YWJj'],
    ['YQ', 'YQ=', 'YR==', 'Y Q='],
  ],
};

describe('a format', () => {
  it.each(Object.entries(formats))('%s is enforced', async (format, [valid, invalid]) => {
    const grammar = await schemaGrammar({ type: 'string', format });
    await checkGrammar(grammar);
    for (const text of valid)
      expect(await matchGrammar(grammar, JSON.stringify(text)), text).toBe('conforms');
    for (const text of invalid)
      expect(await matchGrammar(grammar, JSON.stringify(text)), text).not.toBe('conforms');
  });

  it('date has every day of 800 years, and no other', async () => {
    const grammar = await schemaGrammar({ type: 'string', format: 'date' });
    for (let year = 1600; year < 2400; year += 7)
      for (let month = 1; month <= 12; month++)
        for (let day = 28; day <= 32; day++) {
          const text = [`${year}`, `${month}`.padStart(2, '0'), `${day}`].join('-');
          const date = new Date(Date.UTC(year, month - 1, day));
          const exists = date.getUTCMonth() === month - 1 && day <= 31;
          expect(await matchGrammar(grammar, `"${text}"`), text).toBe(exists ? 'conforms' : 'refused');
        }
  });
});
