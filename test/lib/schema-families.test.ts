import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkGrammar, matchGrammar, schemaGrammar } from '../../lib/internal.js';
import { Gbnf } from '../helpers/gbnf.js';
import { random, testSeed } from '../helpers/random.js';

const Node = z.object({
  value: z.number(),
  get next() {
    return Node.nullable();
  },
});

/** Types of zod 4 with values that they allow. */
const types: Record<string, [type: z.ZodType, values: unknown[]]> = {
  'a string': [z.string(), ['a', '']],
  lengths: [z.string().min(2).max(5), ['ab', 'abcde']],
  'a pattern': [z.string().regex(/^[A-Z]+$/), ['AB']],
  'a pattern and lengths': [
    z
      .string()
      .regex(/^[A-Z]+$/)
      .min(2)
      .max(4),
    ['AB', 'ABCD'],
  ],
  'an email address': [z.email(), ['joe.doe+tag@mail.example.com']],
  'an address': [z.url(), ['https://example.com/a?b=c#d', 'ftp://x']],
  'a UUID': [z.uuid(), ['550e8400-e29b-41d4-a716-446655440000']],
  'a UUID of a version': [z.uuidv4(), ['550e8400-e29b-41d4-a716-446655440000']],
  nanoid: [z.nanoid(), ['V1StGXR8_Z5jdHi6B-myT']],
  cuid2: [z.cuid2(), ['tz4a98xxat96iws9zmbrgj3a']],
  ulid: [z.ulid(), ['01ARZ3NDEKTSV4RRFFQ69G5FAV']],
  emoji: [z.emoji(), ['😀']],
  'an IPv4 address': [z.ipv4(), ['1.2.3.4', '255.255.255.255']],
  'an IPv6 address': [z.ipv6(), ['::1', '2001:db8::1']],
  'a block of addresses': [z.cidrv4(), ['10.0.0.0/8']],
  base64: [z.base64(), ['YQ==', '']],
  base64url: [z.base64url(), ['YQ']],
  'a telephone number': [z.e164(), ['+14155552671']],
  'a date': [z.iso.date(), ['2024-02-29', '2025-12-31']],
  'a time': [z.iso.time(), ['12:30:00']],
  'a date and time': [z.iso.datetime(), ['2024-02-29T12:30:00Z']],
  'a date and time with an offset': [z.iso.datetime({ offset: true }), ['2024-02-29T12:30:00+02:00']],
  'a date and time without one': [z.iso.datetime({ local: true }), ['2024-02-29T12:30:00']],
  'a duration': [z.iso.duration(), ['P1DT2H', 'PT5M', 'P3W']],
  'lower case': [z.string().lowercase(), ['ab']],
  'a beginning': [z.string().startsWith('a.b'), ['a.bc']],
  'an end': [z.string().endsWith('z'), ['az']],
  'a part': [z.string().includes('x'), ['axb']],
  'a beginning, a part and an end': [z.string().startsWith('a.').includes('x').endsWith('z'), ['a.xz']],
  'a token': [z.jwt(), ['eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIx.c2ln']],
  'a number': [z.number(), [1.5, -0.25]],
  'an integer': [z.int(), [5, -7, 9007199254740991, -9007199254740991]],
  int32: [z.int32(), [-2147483648, 2147483647]],
  uint32: [z.uint32(), [0, 4294967295]],
  float32: [z.float32(), [1.5]],
  'a positive number': [z.number().positive(), [0.5, 1e-5]],
  'a number that is not negative': [z.number().nonnegative(), [0, 7.25]],
  'a multiple': [z.number().multipleOf(5), [10, 0, -15]],
  'a decimal multiple': [z.number().multipleOf(0.01), [1.25, -0.05]],
  'numbers of a range': [z.number().min(0).max(1), [0, 1, 0.25]],
  'numbers between bounds': [z.number().gt(-2.5).lt(2.5), [-2.4, 2.4, 0]],
  'a positive integer': [z.int().positive(), [1]],
  constants: [z.literal(['a', 1, null]), ['a', 1, null]],
  'an enum': [z.enum(['a', 'b']), ['a', 'b']],
  nullable: [z.string().nullable(), ['a', null]],
  'an optional property': [z.object({ a: z.string().optional() }), [{}, { a: 'x' }]],
  'no other properties': [z.strictObject({ a: z.int() }), [{ a: 1 }]],
  'other properties': [z.looseObject({ a: z.int() }), [{ a: 1 }, { a: 1, b: [2] }]],
  'other properties of a type': [z.object({ a: z.int() }).catchall(z.string()), [{ a: 1, b: 'x' }]],
  'a record': [z.record(z.string(), z.int()), [{ a: 1 }, {}]],
  'a record of an enum': [z.record(z.enum(['a', 'b']), z.int()), [{ a: 1, b: 2 }]],
  'a record of a pattern': [z.record(z.string().regex(/^x/), z.int()), [{ x1: 1 }]],
  'an array': [z.array(z.string()).min(1).max(3), [['a']]],
  'a tuple': [z.tuple([z.string(), z.int()]), [['a', 1]]],
  'a tuple and more': [z.tuple([z.string()]).rest(z.int()), [['a', 1, 2], ['a']]],
  'a union': [z.union([z.string(), z.int()]), ['a', 1]],
  'a union told apart': [
    z.discriminatedUnion('k', [
      z.object({ k: z.literal('a'), x: z.int() }),
      z.object({ k: z.literal('b'), y: z.string() }),
    ]),
    [
      { k: 'a', x: 1 },
      { k: 'b', y: 's' },
    ],
  ],
  'an intersection': [
    z.intersection(z.object({ a: z.int() }), z.object({ b: z.string() })),
    [{ a: 1, b: 'x' }],
  ],
  recursion: [Node, [{ value: 1, next: { value: 2, next: null } }]],
  'any JSON': [z.json(), [{ a: [1, null] }]],
  'a template': [z.templateLiteral(['a-', z.int()]), ['a-5']],
  'a host name': [z.hostname(), ['example.com', 'a', 'x1-y.z']],
  never: [z.object({ a: z.never().optional() }), [{}]],
};

describe('a type of zod 4', () => {
  it.each(Object.entries(types))('is enforced: %s', async (_, [type, values]) => {
    const source = await schemaGrammar(z.toJSONSchema(type));
    await checkGrammar(source);
    for (const value of values) {
      expect(type.safeParse(value).success).toBe(true);
      expect(await matchGrammar(source, JSON.stringify(value)), JSON.stringify(value)).toBe('conforms');
    }
    const grammar = new Gbnf(source);
    const next = random(testSeed);
    for (let round = 0; round < 60; round++) {
      const text = grammar.sample(next);
      const { error } = type.safeParse(JSON.parse(text));
      expect(error, `seed ${testSeed}: ${text}`).toBe(undefined);
    }
  });
});

type Example = [schema: unknown, valid: unknown[], invalid: unknown[]];

async function expectEnforced([schema, valid, invalid]: Example): Promise<void> {
  const grammar = await schemaGrammar(schema);
  await checkGrammar(grammar);
  for (const value of valid)
    expect(await matchGrammar(grammar, JSON.stringify(value)), JSON.stringify(value)).toBe('conforms');
  for (const value of invalid)
    expect(await matchGrammar(grammar, JSON.stringify(value)), JSON.stringify(value)).not.toBe('conforms');
}

describe('a model of Pydantic 2', () => {
  const models = JSON.parse(readFileSync(new URL('schemas/pydantic.json', import.meta.url), 'utf8'));
  const { All, Strict, Loose, Typed, Tree } = models;
  const fields: Record<string, [valid: unknown[], invalid: unknown[]]> = {
    age: [
      [0, 130],
      [-1, 131, 1.5],
    ],
    share: [
      [0.5, 0.001],
      [0, 1, 1.5],
    ],
    five: [
      [0, 15, -5],
      [3, 16],
    ],
    code: [
      ['AB', 'ABCDEFGH'],
      ['A', 'ab', 'ABCDEFGHI'],
    ],
    day: [
      ['2024-02-29', '2025-12-31'],
      ['2025-02-29', '2025-04-31'],
    ],
    at: [['2024-02-29T23:59:59.5+02:00'], ['2024-02-29 23:59:59']],
    span: [
      ['P1DT2H3M', 'PT1S'],
      ['P', '1 day'],
    ],
    id4: [['550e8400-e29b-41d4-a716-446655440000'], ['550e8400-e29b-11d4-a716-446655440000']],
    ip6: [
      ['::', '1::8'],
      ['1::2::3', ':1'],
    ],
    mail: [['a@b.example'], ['a@', '@b']],
    url: [
      ['https://a.example/x?y#z', 'mailto:a@b'],
      ['nothing', 'http://a b'],
    ],
    home: [['https://a.example/'], ['a']],
    dec: [
      [1.5, '1.5'],
      [true, null],
    ],
    color: [['red'], ['green']],
    level: [
      [1, 2],
      [3, '1'],
    ],
    opt: [['a', null], [1]],
    uniq: [[['red'], ['red', 'blue'], []], [['red', 'red']]],
    tup: [[[1, 'a']], [[1], [1, 'a', 2]]],
    tupn: [[[], [1, 2, 3]], [['a']]],
    table: [[{}, { a: 1 }], [{ a: 'x' }]],
    ptable: [[{ xa: 1.5 }], [{ a: 1.5 }]],
    pet: [
      [{ kind: 'cat', meows: 1 }, { kind: 'dog' }],
      [{ kind: 'cow' }, { kind: 'cat', barks: 1 }],
    ],
    tree: [[{ value: 1, children: [{ value: 2, children: [] }] }], [{ children: [] }]],
  };
  it.each(Object.entries(fields))('has its field enforced: %s', async (name, [valid, invalid]) => {
    await expectEnforced([{ ...All.properties[name], $defs: All.$defs }, valid, invalid]);
  });

  it('is enforced as a whole', async () => {
    await checkGrammar(await schemaGrammar(All));
    await expectEnforced([Strict, [{ a: 1 }], [{}, { a: 1, b: 2 }]]);
    await expectEnforced([Loose, [{ a: 1 }, { a: 1, b: 'x' }], [{ b: 1 }]]);
    await expectEnforced([Typed, [{ a: 1, b: 2 }], [{ a: 1, b: 'x' }]]);
    await expectEnforced([Tree, [{ value: 1 }], [{ value: 'x' }]]);
  });
});

describe('a type of Rust by schemars', () => {
  const variant = (name: string, value: unknown) => ({
    type: 'object',
    properties: { [name]: value },
    required: [name],
    additionalProperties: false,
  });
  const examples: Record<string, Example> = {
    'integers of each size': [
      {
        type: 'object',
        properties: {
          byte: { type: 'integer', format: 'uint8', minimum: 0, maximum: 255 },
          old: { type: 'integer', format: 'uint64', minimum: 0.0 },
          wide: { type: 'integer', format: 'int64' },
          real: { type: 'number', format: 'double' },
        },
        required: ['byte', 'old', 'wide', 'real'],
      },
      [{ byte: 255, old: 5, wide: -5, real: 1.5 }],
      [
        { byte: 256, old: 5, wide: 5, real: 1 },
        { byte: 1, old: -1, wide: 5, real: 1 },
      ],
    ],
    'an enum with data': [
      {
        oneOf: [
          { type: 'string', enum: ['Unit'] },
          { type: 'string', const: 'Other' },
          variant('Newtype', { type: 'integer' }),
          variant('Struct', variant('x', { $ref: '#/definitions/Point' })),
        ],
        definitions: {
          Point: { type: 'array', items: [{ type: 'number' }, { type: 'number' }], minItems: 2, maxItems: 2 },
        },
      },
      ['Unit', 'Other', { Newtype: 3 }, { Struct: { x: [1, 2] } }],
      ['None', { Newtype: 'x' }, { Newtype: 1, Struct: { x: [1, 2] } }, { Struct: { x: [1] } }],
    ],
    'a tagged enum': [
      {
        oneOf: [
          {
            type: 'object',
            properties: { type: { type: 'string', const: 'a' }, value: { type: 'integer' } },
            required: ['type', 'value'],
          },
          {
            type: 'object',
            properties: { type: { type: 'string', const: 'b' } },
            required: ['type'],
            $ref: '#/$defs/B',
          },
        ],
        $defs: { B: { type: 'object', properties: { name: { type: ['string', 'null'] } } } },
      },
      [{ type: 'a', value: 1 }, { type: 'b' }, { type: 'b', name: null }],
      [{ type: 'c' }, { type: 'a' }],
    ],
    'an Option in OpenAPI 3.0': [
      {
        type: 'object',
        properties: {
          name: { type: 'string', nullable: true },
          kind: { type: 'string', enum: ['a', 'b'], nullable: true },
          share: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: false },
        },
        required: ['name'],
      },
      [{ name: null }, { name: 'x', kind: 'a', share: 1 }],
      [{}, { name: 1 }, { name: 'x', kind: null }, { name: 'x', share: 0 }],
    ],
    'an Option of a reference in OpenAPI 3.0': [
      {
        type: 'object',
        properties: {
          parent: { allOf: [{ $ref: '#' }], nullable: true },
          colour: { $ref: '#/definitions/Colour', nullable: true },
        },
        required: ['parent'],
        definitions: { Colour: { type: 'string', enum: ['red'] } },
      },
      [{ parent: null }, { parent: { parent: null, colour: 'red' }, colour: null }],
      [{}, { parent: 1 }, { parent: null, colour: 'blue' }],
    ],
    'times without an offset and an address of either kind': [
      {
        type: 'array',
        prefixItems: ['partial-date-time', 'partial-time', 'ip'].map((format) => ({
          type: 'string',
          format,
        })),
        minItems: 3,
        maxItems: 3,
      },
      [
        ['2024-02-29T12:30:00', '12:30:00.5', '10.0.0.1'],
        ['2024-02-29T12:30:00', '23:59:59', '::1'],
      ],
      [
        ['2023-02-29T12:30:00', '12:30:00', '::1'],
        ['2024-02-29T12:30:00Z', '12:30:00', '::1'],
        ['2024-02-29T12:30:00', '12:30:00', '10.0.0'],
      ],
    ],
    'an Option of a reference': [
      { anyOf: [{ $ref: '#/$defs/P' }, { type: 'null' }], $defs: { P: { type: 'boolean' } } },
      [true, null],
      [1],
    ],
    'a flattened struct': [
      {
        allOf: [{ $ref: '#/$defs/A' }],
        type: 'object',
        properties: { b: { type: 'integer' } },
        required: ['b'],
        $defs: { A: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
      },
      [{ b: 1, a: 'x' }],
      [{ b: 1 }, { a: 'x' }],
    ],
  };
  it.each(Object.entries(examples))('is enforced: %s', async (_, example) => expectEnforced(example));

  it('has integers of 64 bits without rounding', async () => {
    const grammar = await schemaGrammar({ type: 'integer', format: 'int64' });
    for (const text of ['9223372036854775807', '-9223372036854775808'])
      expect(await matchGrammar(grammar, text)).toBe('conforms');
    for (const text of ['9223372036854775808', '-9223372036854775809'])
      expect(await matchGrammar(grammar, text)).not.toBe('conforms');
  });
});

describe('a message of protobuf', () => {
  const examples: Record<string, Example> = {
    'of whose fields one is set': [
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'boolean' } },
        additionalProperties: false,
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      [{ a: 'x' }, { b: 1 }, { b: 1, c: true }],
      [{}, { c: true }, { a: 'x', b: 1 }],
    ],
    'of whose fields one is set, by definitions beside them': [
      {
        allOf: [
          { oneOf: [{ $ref: '#/$defs/A' }, { required: ['b'] }, { $ref: '#/$defs/C' }] },
          { $ref: '#/$defs/All' },
        ],
        $defs: {
          A: { type: 'object', properties: { a: {} }, required: ['a'] },
          C: { type: 'object', properties: { c: {} }, required: ['c'] },
          All: {
            type: 'object',
            properties: { a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'boolean' } },
          },
        },
      },
      [{ a: 'x' }, { b: 1 }, { c: true }],
      [{}, { a: 'x', b: 1 }, { b: 1, c: true }, { a: 'x', c: true }],
    ],
    'its fields': [
      {
        $id: 'pkg.Message.schema.json',
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        $defs: {
          'pkg.Inner.schema.json': {
            $id: 'pkg.Inner.schema.json',
            type: 'object',
            properties: { name: { type: 'string', default: '' } },
            additionalProperties: false,
          },
        },
        type: 'object',
        title: 'Message',
        additionalProperties: false,
        properties: {
          count: {
            anyOf: [
              { type: 'integer', minimum: -(2 ** 63), exclusiveMaximum: 2 ** 63 },
              { type: 'string', pattern: '^-?[0-9]+$' },
            ],
            default: 0,
          },
          ratio: {
            anyOf: [{ type: 'number' }, { type: 'string' }, { enum: ['NaN', 'Infinity', '-Infinity'] }],
          },
          bytes: { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' },
          kind: {
            anyOf: [
              { type: 'string', enum: ['KIND_A', 'KIND_B'] },
              { type: 'integer', minimum: -2147483648, maximum: 2147483647 },
            ],
          },
          at: { type: 'string', format: 'date-time' },
          inner: { $ref: 'pkg.Inner.schema.json' },
          table: {
            type: 'object',
            additionalProperties: { type: 'boolean' },
            propertyNames: { type: 'string' },
          },
        },
        patternProperties: { '^(the_count)$': { type: 'integer' } },
      },
      [
        {
          count: '-5',
          ratio: 'NaN',
          bytes: 'YQ==',
          kind: 'KIND_A',
          inner: { name: 'x' },
          table: { a: true },
        },
        { count: 5, the_count: 3 },
        {},
      ],
      [{ inner: { other: 1 } }, { kind: 'C' }, { the_count: 'x' }, { more: 1 }, { table: { a: 1 } }],
    ],
    'numbers of 64 bits as strings': [
      { type: 'object', properties: { id: { type: 'string', format: 'int64' } }, required: ['id'] },
      [{ id: '9223372036854775807' }, { id: '-1' }],
      [{ id: 'x' }, { id: '9223372036854775808' }],
    ],
    'exactly one of its fields': [
      {
        type: 'object',
        oneOf: [
          { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
          { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] },
        ],
      },
      [{ a: 1 }, { b: 1 }],
      [{}, { a: 1, b: 1 }],
    ],
  };
  it.each(Object.entries(examples))('is enforced: %s', async (_, example) => expectEnforced(example));
});
