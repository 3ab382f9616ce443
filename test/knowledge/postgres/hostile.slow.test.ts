import { beforeAll, describe, expect, it } from 'vitest';
import { type FieldDefinition, type FilterExpression, Storage } from '../../../lib/index.js';
import { changeTables } from '../../../src/knowledge/postgres/changes.js';
import { PostgresConnections } from '../../../src/knowledge/postgres/connections.js';
import { PostgresEngine } from '../../../src/knowledge/postgres/engine.js';
import { EngineError } from '../../../src/knowledge/postgres/engine-error.js';
import { readFacts } from '../../../src/knowledge/postgres/facts.js';
import { pushStorage } from '../../../src/knowledge/postgres/push.js';
import { rejection } from '../../helpers/errors.js';
import { testDatabase } from '../../helpers/postgres.js';
import { random, testSeed } from '../../helpers/random.js';
import { repetitions } from '../../helpers/repetitions.js';

const database = testDatabase();
const dimension = 4;

const cases = repetitions('HOSTILE', 1000, 10_000);

const next = random(testSeed);
const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
const pieces = [
  ...[
    "'",
    "''",
    '"',
    '\\',
    '\\x27',
    ';',
    '--',
    '/*',
    '*/',
    '$1',
    '$$',
    '$q$',
    '%s',
    '?',
    '::text',
    ')',
    '(',
    '{}',
    '[]',
  ],
  ...[
    ' or true ',
    ' union select ',
    'drop table kb',
    "';drop table kb_base;--",
    'pg_sleep(9)',
    'copy kb to program',
  ],
  ...[
    '\u0000',
    '\u0001',
    '\n',
    '\r',
    '\u2028',
    '\u{1f600}',
    '\u0027',
    'ʼ',
    '＇',
    '￿',
    'e\u0301',
    '\u202e',
    'null',
    'NaN',
  ],
  ...['bees', 'honey', 'level', 'kind', '1', '-1', '1e999', '0x1', 'true'],
];
const hostile = () => Array.from({ length: 1 + Math.floor(next() * 5) }, () => pick(pieces)).join('');
const hostileName = () => hostile().replaceAll('\0', '') || 'name';

const fields: FieldDefinition[] = [
  { name: 'kind', type: 'string', optional: true },
  { name: 'level', type: 'int', default: 0 },
  { name: 'it\'s "a" --name; $1', type: 'string', optional: true },
  { name: 'tags', type: 'set<string>', optional: true },
];
const records = Array.from({ length: 40 }, (_, n) => ({
  id: n < 20 ? `r${n}` : `${hostileName()} ${n}`,
  text: n < 20 ? 'bees make honey' : `${hostileName()} bees`,
  metadata: {
    level: n,
    kind: hostileName(),
    [(fields[2] as FieldDefinition).name]: n % 2 === 0 ? "'" : hostileName(),
    tags: [hostileName(), 'a'],
  },
}));

let connections: PostgresConnections;
let engine: PostgresEngine;
let storage: Storage;

beforeAll(async () => {
  console.log(`seed ${testSeed}, ${cases} cases`);
  const vectors = Float32Array.from({ length: records.length * dimension }, () => next() - 0.5);
  storage = await Storage.build(records, vectors, dimension, {
    fields,
    tokenizer: 'multilingual',
    kind: 'flat',
  });
  connections = new PostgresConnections({ main: database.connection() });
  engine = await opened('kb');
  return async () => {
    await connections.close();
    await storage.close();
  };
});

async function opened(table: string): Promise<PostgresEngine> {
  const { client, tables } = connections.find({ connection: 'main', table }, 'kb.json');
  await pushStorage(storage, {
    ...{ client, tables, fields, replace: true, hnsw: undefined },
    model: { model: "o'ne", fingerprint: hostileName() },
  });
  const facts = await readFacts(client, tables);
  return PostgresEngine.open({ client, tables, facts, fields, tokenizer: 'multilingual', ef: undefined });
}

function hostileFilter(): FilterExpression {
  const field = pick(['kind', 'it\'s "a" --name; $1']);
  const own = pick(records).metadata[field as 'kind'] as string;
  const value = next() < 0.5 ? hostile() : own;
  return pick<FilterExpression>([
    { [field]: { '==': value } },
    { '!=': [{ knowledge: field }, value] },
    { [field]: { in: [value, hostile(), own] } },
    { starts_with: [{ knowledge: field }, value.slice(0, 3)] },
    { in: [value, { knowledge: 'tags' }] },
    { not: { [field]: { '<': value } } },
    { or: [{ [field]: { '>': value } }, { level: { '<': 3 } }] },
    { '==': [{ knowledge: field }, { variable: value.replaceAll('\0', '') || 'v' }] },
  ]);
}

const tableNames = async () =>
  (
    await database.run("select relname from pg_class where relkind = 'r' and relname like 'kb%' order by 1")
  ).map(({ relname }) => relname);

describe('hostile names, filters and texts', () => {
  it('are values: they find what the embedded engine finds, and change nothing', async () => {
    const before = await tableNames();
    const facts = await database.run('select * from kb_base');
    for (let n = 0; n < cases; n++) {
      const filter = hostileFilter();
      const [operation] = Object.entries(filter) as [[string, unknown]];
      const needed = storage.compileFilter(filter);
      const variables =
        needed.variables.length === 0 ? undefined : { [needed.variables[0] as string]: hostile() };
      await needed.close();
      const options = { filter, variables, limit: 100 };
      const message = `${operation}: ${JSON.stringify(filter)} ${JSON.stringify(variables)} (seed ${testSeed})`;
      if (n % 4 !== 0) {
        expect(await engine.count(options), message).toBe(await storage.count(options));
        continue;
      }
      const text = hostile();
      const found = await engine.search({ mode: 'lexical', text, topK: 40, filter, variables });
      const expected = await storage.search({ mode: 'lexical', text, topK: 40, filter, variables });
      const ids = (hits: readonly { id: string }[]) => hits.map(({ id }) => id).toSorted();
      expect(ids(found.hits), `${message} ${JSON.stringify(text)}`).toEqual(ids(expected.hits));
      const id = next() < 0.5 ? hostile() : pick(records).id;
      expect((await engine.get(id))?.text, JSON.stringify(id)).toBe((await storage.get(id))?.text);
    }
    expect(await tableNames()).toEqual(before);
    expect(await database.run('select * from kb_base')).toEqual(facts);
  });

  it('are stored and removed as they are', async () => {
    const other = await opened('kb_changed');
    for (let n = 0; n < cases / 50; n++) {
      const id = `${hostileName()} new ${n}`;
      const text = `${hostileName()} w${n}`;
      const metadata = { kind: hostileName(), level: n };
      const row = Float32Array.from([1, 0, 0, n]);
      await other.update({ add: [{ id, text, metadata }] }, row);
      expect(await other.get(id), JSON.stringify(id)).toMatchObject({ id, text, metadata });
      if (n % 2 === 0) await other.update({ remove: [id] });
    }
    await other.close();
  });

  it('are refused as names of connections and tables', () => {
    for (let n = 0; n < 200; n++) {
      const name = hostile();
      if (name === 'main') continue;
      expect(() => connections.find({ connection: name, table: 'kb' }, 'kb.json')).toThrow(
        'declares no connection',
      );
    }
  });
});

describe('a statement that does not end', () => {
  const slow = { text: 'select count(*) from generate_series(1, 200000000)', values: [] };

  it('is given up when its search is cancelled, and the next one is answered', async () => {
    const { client } = connections.find({ connection: 'main', table: 'kb' }, 'kb.json');
    const controller = new AbortController();
    controller.abort(new Error('cancelled before'));
    await expect(client.read(slow, controller.signal)).rejects.toThrow('cancelled before');
    expect(await engine.count()).toBe(records.length);
  });

  it('is an error when the server is away, in our words, and is answered once it is back', async () => {
    const settings = database.connection();
    const port = settings.hosts[0] as string;
    const away = new PostgresConnections({
      main: { ...settings, hosts: ['127.0.0.1:1'], connect_timeout_ms: 500 },
    });
    const { client } = away.find({ connection: 'main', table: 'kb' }, 'kb.json');
    const error = await rejection(client.read({ text: 'select 1', values: [] }), 'IO');
    expect(error).toBeInstanceOf(EngineError);
    expect((error as unknown as EngineError).isOutage).toBe(true);
    await away.close();
    const both = new PostgresConnections({ main: { ...settings, hosts: ['127.0.0.1:1', port] } });
    const found = both.find({ connection: 'main', table: 'kb' }, 'kb.json');
    expect(await found.client.read({ text: 'select 1 as one', values: [] })).toMatchObject([{ one: 1 }]);
    await both.close();
  });

  it('tells nothing of the words of the database', async () => {
    const { client } = connections.find({ connection: 'main', table: 'kb' }, 'kb.json');
    const read = (text: string) => rejection(client.read({ text, values: [] }), 'IO');
    for (const [text, words] of [
      ['select * from secret_table', 'the table is absent'],
      ['select 1 / 0', 'SQLSTATE 22012'],
      ['selec secret', 'SQLSTATE 42601'],
    ] as const) {
      const { message } = await read(text);
      expect(message).toContain(words);
      expect(message).not.toContain('secret');
    }
  });

  it('leaves no trace when a batch fails in the middle', async () => {
    const other = await opened('kb_failing');
    const { client, tables } = connections.find({ connection: 'main', table: 'kb_failing' }, 'kb.json');
    const facts = await readFacts(client, tables);
    const batch = {
      remove: ['r1'],
      add: [
        { id: 'long', text: 'x' },
        { id: 'i'.repeat(3000), text: 'y' },
      ],
    };
    const rows = new Float32Array(2 * dimension).fill(1);
    await rejection(
      changeTables({ client, tables, facts, fields }, batch, rows, undefined),
      'INVALID_ARGUMENT',
    );
    expect(await other.count()).toBe(records.length);
    expect(await readFacts(client, tables)).toEqual(facts);
    expect(await other.has('r1')).toBe(true);
  });
});
