import { beforeAll, describe, expect, it } from 'vitest';
import {
  type FieldDefinition,
  type FilterExpression,
  Storage,
  type StorageRecord,
} from '../../../lib/index.js';
import { PostgresConnections } from '../../../src/knowledge/postgres/connections.js';
import { PostgresEngine } from '../../../src/knowledge/postgres/engine.js';
import { readFacts } from '../../../src/knowledge/postgres/facts.js';
import { pushStorage } from '../../../src/knowledge/postgres/push.js';
import { rejection } from '../../helpers/errors.js';
import { testDatabase } from '../../helpers/postgres.js';
import { random, testSeed } from '../../helpers/random.js';
import { repetitions } from '../../helpers/repetitions.js';

/** Filters of any depth over fields of all types and odd values: the embedded engine says which records match. */
const database = testDatabase();
const cases = repetitions('FILTERS', 400, 20_000);
const next = random(testSeed + 11);
const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;

const strings = ['__proto__', 'it\'s \\ "a" $1', 'é'];
const numbers = ['constructor', 'f', 'level', 'and'];
const bools = ['b', "c'"];
const sets = ['tags', '東'];
const dates = ['day', 'at'];
const fields: FieldDefinition[] = [
  ...strings.map((name): FieldDefinition => ({ name, type: 'string', optional: true })),
  { name: 'constructor', type: 'int', optional: true },
  { name: 'f', type: 'float', optional: true },
  { name: 'level', type: 'int', default: -1 },
  { name: 'and', type: 'float', default: 0.5 },
  ...bools.map((name): FieldDefinition => ({ name, type: 'bool', optional: true })),
  ...sets.map((name): FieldDefinition => ({ name, type: 'set<string>', optional: true })),
  { name: 'day', type: 'int', format: 'date', optional: true },
  { name: 'at', type: 'int', format: 'date-time', optional: true },
];
const texts = [
  '',
  ' ',
  'a',
  'A',
  'é',
  'e\u0301',
  '東京',
  '\u{1f600}',
  '\uffff',
  "'",
  '\\',
  '%',
  '"x"',
  'null',
  '[]',
  '{"a":1}',
  '\u0001',
];
const unstorable = ['\0', 'a\0b', '\ud800', 'x\udc00'];
const integers = [
  ...[0, 1, -1, 7, 2 ** 53 - 1, -(2 ** 53) + 1],
  ...[2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)],
];
const fractions = [
  0,
  -0,
  0.1,
  0.1 + 0.2,
  0.3,
  2.5,
  -2.5,
  5e-324,
  1.7976931348623157e308,
  9_007_199_254_740_992,
  1e21,
  1 / 3,
];
const days = ['1970-01-01', '2024-02-29', '1969-12-31', '9999-12-31', '0001-01-01'];
const times = [
  '1970-01-01T00:00:00Z',
  '2024-05-31T12:00:00.123Z',
  '2024-05-31T12:00:00Z',
  '1969-12-31T23:59:59.999Z',
];
const operators = ['==', '!=', '<', '<=', '>', '>='] as const;

const record = (n: number): StorageRecord => {
  const metadata: Record<string, never> = Object.create(null);
  const set = (name: string, value: unknown) => {
    if (next() < 0.7)
      Object.defineProperty(metadata, name, { value, enumerable: true, configurable: true, writable: true });
  };
  for (const name of strings) set(name, pick(texts));
  for (const name of ['constructor', 'level']) set(name, pick(integers));
  for (const name of ['f', 'and']) set(name, pick(fractions));
  for (const name of bools) set(name, next() < 0.5);
  for (const name of sets)
    set(
      name,
      Array.from({ length: Math.floor(next() * 4) }, () => pick(texts)),
    );
  set('day', pick(days));
  set('at', pick(times));
  return { id: `r${n}`, text: 'bees', metadata };
};

/** The value for a variable or in place. */
let variables: Record<string, unknown>;
const operand = (value: unknown) => {
  if (next() < 0.7) return value;
  const variable = `v${Object.keys(variables).length}`;
  variables[variable] = value;
  return { variable };
};
const textValue = () => pick(next() < 0.1 ? unstorable.slice(0, 2) : texts);
const numberValue = () => pick<number | bigint>(next() < 0.5 ? integers : fractions);
const listOf = (value: () => unknown) => Array.from({ length: pick([0, 1, 2, 5, 20]) }, value);

function leaf(): unknown {
  const operator = pick(operators);
  const [text, number, bool, set, date] = [
    pick(strings),
    pick(numbers),
    pick(bools),
    pick(sets),
    pick(dates),
  ];
  const turned = (a: unknown, b: unknown) => ({ [operator]: next() < 0.5 ? [a, b] : [b, a] });
  return pick<() => unknown>([
    () => turned({ knowledge: text }, operand(textValue())),
    () => turned({ knowledge: number }, operand(numberValue())),
    () => ({ [pick(['==', '!='])]: [{ knowledge: bool }, operand(next() < 0.5)] }),
    () => ({ [pick(['==', '!='])]: [{ knowledge: bools[0] }, { knowledge: bools[1] }] }),
    () => turned({ knowledge: text }, { knowledge: pick(strings) }),
    () => turned({ knowledge: number }, { knowledge: pick(numbers) }),
    () => turned({ knowledge: date }, date === 'day' ? pick(days) : pick(times)),
    () => ({ in: [operand(textValue()), { knowledge: set }] }),
    () => ({ in: [{ knowledge: text }, { knowledge: set }] }),
    () => ({ in: [{ knowledge: text }, operand(listOf(textValue))] }),
    () => ({ in: [{ knowledge: number }, operand(listOf(numberValue))] }),
    () => ({ starts_with: [{ knowledge: text }, operand(textValue().slice(0, 1))] }),
    () => ({ exists: { knowledge: pick(fields).name } }),
    () => ({
      [number === 'and' ? 'level' : number]: {
        '>=': numberValue(),
        '<': numberValue(),
        exists: next() < 0.5,
      },
    }),
  ])();
}

function filterOf(depth: number): unknown {
  if (depth === 0 || next() < 0.2) return leaf();
  const kind = pick(['and', 'or', 'not', 'not']);
  if (kind === 'not') return { not: filterOf(depth - 1) };
  return { [kind]: Array.from({ length: Math.floor(next() * 4) }, () => filterOf(depth - 1)) };
}

const shown = (value: unknown) =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part));

describe('filters of any depth, type and value', () => {
  let storage: Storage;
  let engine: PostgresEngine;
  let connections: PostgresConnections;

  beforeAll(async () => {
    const records = Array.from({ length: 120 }, (_, n) => record(n));
    storage = await Storage.build(records, new Float32Array(240).fill(1), 2, { fields, kind: 'flat' });
    connections = new PostgresConnections({ main: database.connection() });
    const { client, tables } = connections.find({ connection: 'main', table: 'kb' }, 'kb.json');
    const model = { model: 'm', fingerprint: 'f' };
    await pushStorage(storage, { client, tables, model, fields, hnsw: undefined, replace: false });
    const facts = await readFacts(client, tables);
    const tokenizer = storage.tokenizer;
    engine = await PostgresEngine.open({ client, tables, facts, fields, tokenizer, ef: undefined });
    return async () => {
      await connections.close();
      await storage.close();
    };
  });

  it('have the records of the embedded engine', async () => {
    let matched = 0;
    for (let n = 0; n < cases; n++) {
      variables = {};
      const filter = filterOf(n % 7) as FilterExpression;
      const options = { filter, variables: variables as never, limit: 200 };
      const message = `${shown(filter)} ${shown(variables)} (seed ${testSeed})`;
      const expected = await storage.list(options).catch((error: Error) => error.message);
      const found = await engine.list(options).catch((error: Error) => error.message);
      if (typeof expected === 'string') {
        expect(found, message).toBe(expected);
        continue;
      }
      expect(found, message).toEqual(expected);
      matched += expected.length > 0 && expected.length < storage.size ? 1 : 0;
    }
    expect(matched).toBeGreaterThan(cases / 4);
  });

  it('may be as deep and as wide as the embedded engine takes them', async () => {
    let deep: unknown = { level: { '>': 3 } };
    for (let depth = 0; depth < 60; depth++)
      deep = depth % 2 === 0 ? { not: deep } : { and: [deep, { exists: { knowledge: 'é' } }] };
    const wide = {
      or: Array.from({ length: 2000 }, (_, n) => ({ and: [{ level: { '==': n } }, { f: { '>': n / 7 } }] })),
    };
    const list = { level: { in: Array.from({ length: 10_000 }, (_, n) => n * 3) } };
    for (const filter of [deep, wide, list]) {
      const options = { filter: filter as FilterExpression };
      const expected = await storage.count(options).catch((error: Error) => error.message);
      expect(await engine.count(options).catch((error: Error) => error.message)).toBe(expected);
    }
  });

  it('name fields that a table can hold: a push refuses others by name', async () => {
    const odd: FieldDefinition[] = [{ name: 'a\0b', type: 'int', default: 0 }];
    const other = await Storage.build([{ id: 'r', text: 'x' }], new Float32Array([1, 0]), 2, {
      fields: odd,
      kind: 'flat',
    });
    const { client, tables } = connections.find({ connection: 'main', table: 'odd' }, 'kb.json');
    const model = { model: 'm', fingerprint: 'f' };
    const error = await rejection(
      pushStorage(other, { client, tables, model, fields: odd, hnsw: undefined, replace: false }),
      'INVALID_ARGUMENT',
    );
    expect(error.message).toContain('U+0000');
    await other.close();
  });
});
