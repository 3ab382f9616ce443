import { beforeAll, describe, expect, it } from 'vitest';
import { type FieldDefinition, type FilterExpression, Storage } from '../../../lib/index.js';
import { vectorText } from '../../../src/knowledge/postgres/background.js';
import { hostPort } from '../../../src/knowledge/postgres/connection.js';
import { PostgresConnections } from '../../../src/knowledge/postgres/connections.js';
import { PostgresEngine } from '../../../src/knowledge/postgres/engine.js';
import { readFacts } from '../../../src/knowledge/postgres/facts.js';
import { filterSql } from '../../../src/knowledge/postgres/filter-sql.js';
import { pushStorage } from '../../../src/knowledge/postgres/push.js';
import { searchStatement } from '../../../src/knowledge/postgres/search-sql.js';
import { secondDatabase, testDatabase } from '../../helpers/postgres.js';
import { clusteredVectors, testSeed } from '../../helpers/random.js';

/**
 * The records of a knowledge base in a table that is partitioned by hash over two servers, one of which reaches the other by
 * postgres_fdw, as docs/guides/postgres.md sets it up. `npm run test:postgres two-servers` runs it.
 */
const database = testDatabase();
const second = secondDatabase();
if (second === undefined) process.stderr.write('skipped: two servers: npm run test:postgres runs them\n');

const dimension = 32;
const size = 6000;
const fields: FieldDefinition[] = [
  { name: 'level', type: 'int', default: 0 },
  { name: "kin'd", type: 'string', optional: true },
  { name: 'tags', type: 'set<string>', optional: true },
  { name: 'open', type: 'bool', default: false },
];
const columns = `row bigint not null, id text collate "C" not null, text text not null, metadata jsonb not null,
  length int not null, embedding vector(${dimension}) not null`;

/** The indexes of one part of the table. */
const indexes = (table: string) => [
  `create unique index ${table}_row on ${table} (row)`,
  `create unique index ${table}_id on ${table} (id)`,
  `create index ${table}_near on ${table} using hnsw (embedding vector_cosine_ops) with (m = 16, ef_construction = 100)`,
  `create index ${table}_metadata on ${table} using gin (metadata jsonb_path_ops)`,
  `create index ${table}_level on ${table} (((metadata['level'])::numeric))`,
];

describe.skipIf(second === undefined)('a knowledge base over two servers', () => {
  const vectors = clusteredVectors(size, dimension, 40, testSeed);
  const queries = clusteredVectors(20, dimension, 40, testSeed + 3);
  const queryAt = (n: number) => queries.subarray(n * dimension, (n + 1) * dimension);
  let storage: Storage;
  let connections: PostgresConnections;
  let engine: PostgresEngine;

  beforeAll(async () => {
    const records = Array.from({ length: size }, (_, n) => ({
      id: `r${n}`,
      text: `bees ${n % 7 === 0 ? 'dance' : 'fly'} to flower ${n % 101}`,
      metadata: { level: n % 1000, "kin'd": `k${n % 50}`, tags: [`t${n % 300}`], open: n % 3 === 0 },
    }));
    storage = await Storage.build(records, vectors, dimension, { fields, kind: 'flat' });
    connections = new PostgresConnections({ main: database.connection() });
    const { client, tables } = connections.find({ connection: 'main', table: 'kb' }, 'kb.json');
    const model = { model: 'tiny', fingerprint: 'f' };
    const hnsw = { m: 16, efConstruction: 100 };
    await pushStorage(storage, { client, tables, model, fields, hnsw, replace: false });
    await spread();
    const facts = await readFacts(client, tables);
    const base = { client, tables, facts, fields, tokenizer: storage.tokenizer, ef: undefined };
    engine = await PostgresEngine.open({ ...base, scannedRows: 100 });
    return async () => {
      await connections.close();
      await storage.close();
    };
  });

  /** Moves the records into a table over both servers. */
  async function spread(): Promise<void> {
    const there = second as NonNullable<typeof second>;
    await there.run(`create table part (${columns})`);
    const { hosts, database: name, user } = there.connection();
    const { host, port } = hostPort(hosts[0] as string) as { host: string; port: number };
    const settings = '-c hnsw.iterative_scan=relaxed_order -c hnsw.ef_search=100 -c jit=off';
    for (const sql of [
      'create extension postgres_fdw',
      `create server second foreign data wrapper postgres_fdw options (host '${host}', port '${port}', dbname '${name}',
        extensions 'vector', use_remote_estimate 'true', fetch_size '200', options '${settings}')`,
      `create user mapping for current_user server second options (user '${user}', password_required 'false')`,
      `create table spread (${columns}) partition by hash (row)`,
      'create table spread_0 partition of spread for values with (modulus 2, remainder 0)',
      "create foreign table spread_1 partition of spread for values with (modulus 2, remainder 1) server second options (table_name 'part')",
      'insert into spread select row, id, text, metadata, length, embedding from kb',
      ...indexes('spread_0'),
      'drop table kb',
      'alter table spread rename to kb',
    ])
      await database.run(sql);
    for (const sql of indexes('part')) await there.run(sql);
    await there.run('analyze part');
    await database.run('analyze kb');
  }

  const filters: (FilterExpression | undefined)[] = [
    undefined,
    { level: { '<': 400 } },
    { "kin'd": { in: ['k3', 'k4', 'k5'] } },
    { and: [{ open: { '==': true } }, { in: ['t6', { knowledge: 'tags' }] }] },
    { not: { level: { '>=': 12 } } },
  ];

  it('has records on both, and lists, counts and gets them as the embedded engine does', async () => {
    const [here] = await database.run('select count(*)::int as n from spread_0');
    const [there] = await (second as NonNullable<typeof second>).run('select count(*)::int as n from part');
    expect(Math.min(here?.n as number, there?.n as number)).toBeGreaterThan(size / 3);
    for (const filter of filters)
      expect(await engine.count({ filter })).toBe(await storage.count({ filter }));
    const page = { offset: 70, limit: 30, filter: filters[1] };
    expect(await engine.list(page)).toEqual(await storage.list(page));
    for (const id of ['r1', 'r2', 'r3', 'none']) expect(await engine.get(id)).toEqual(await storage.get(id));
  });

  it('finds in all modes what the embedded engine finds', async () => {
    let [found, wanted, walks] = [0, 0, 0];
    for (let n = 0; n < 8; n++)
      for (const filter of filters)
        for (const mode of ['dense', 'lexical', 'hybrid'] as const) {
          const text = 'bees dance flower 17';
          const options = { mode, topK: 10, filter, ...(mode !== 'dense' && { text }) };
          const asked = mode === 'lexical' ? options : { ...options, vector: queryAt(n) };
          const [own, exact] = [await engine.search(asked), await storage.search(asked)];
          if (own.plan.dense?.path === 'graph') walks++;
          // By ids, and records with equal words by their scores.
          const same = new Set(exact.hits.flatMap(({ id, score }) => [id, score.toFixed(4)]));
          expect(own.hits.length).toBe(exact.hits.length);
          found += own.hits.filter(({ id, score }) => same.has(id) || same.has(score.toFixed(4))).length;
          wanted += exact.hits.length;
        }
    // Three of the filters leave more than 100 records.
    expect(walks).toBe(3 * 2 * 8);
    expect(found / wanted, `recall (seed ${testSeed})`).toBeGreaterThanOrEqual(0.99);
  });

  it('the other server sorts and filters by its own indexes', async () => {
    const { client, tables } = connections.find({ connection: 'main', table: 'kb' }, 'kb.json');
    const planOf = async (filter: FilterExpression | undefined) => {
      const { text, values } = searchStatement({
        tables,
        dense: { depth: 10, threshold: undefined, walk: { ef: 96, above: 100 } },
        lexical: undefined,
        vector: vectorText(queryAt(0)),
        isZero: false,
        terms: [],
        filter: filter && ((statement, table) => filterSql(filter, {}, { fields, statement, table })),
      });
      const rows = await client.read({ text: `explain (verbose, costs off) ${text}`, values });
      return rows.map((row) => row['QUERY PLAN'] as string);
    };
    const remote = (plan: string[], part: RegExp) =>
      plan.map((line) => /Remote SQL: (.*)/.exec(line)?.[1] ?? '').find((sql) => part.test(sql));
    const explained = async (sql: string) =>
      (await (second as NonNullable<typeof second>).run(`explain ${sql}`))
        .map((row) => row['QUERY PLAN'])
        .join('\n');
    const plan = await planOf(undefined);
    expect(plan.join('\n')).toMatch(/Index Scan using spread_0_near/);
    const sorted = remote(plan, /ORDER BY \(?embedding OPERATOR\(public\.<=>\)/);
    expect(sorted, plan.join('\n')).toBeDefined();
    expect(await explained(`${sorted} LIMIT 96`)).toMatch(/Index Scan using part_near/);
    expect(remote(plan, /"row" = ANY/), plan.join('\n')).toBeDefined();
    const rare = await planOf({ and: [{ "kin'd": { '==': 'k3' } }, { level: { '<': 20 } }] });
    const filtered = remote(rare, /WHERE .*metadata @> .*metadata\['level'::text\]/);
    expect(filtered, rare.join('\n')).toBeDefined();
    const negated = await planOf({ not: { or: [{ level: { '>=': 9 } }, { open: { '!=': true } }] } });
    expect(remote(negated, /metadata\['level'::text\]\) IS NULL/), negated.join('\n')).toBeDefined();
    expect(await explained(filtered as string)).toMatch(/Index Scan (on|using) part_(metadata|level)/);
  });
});
