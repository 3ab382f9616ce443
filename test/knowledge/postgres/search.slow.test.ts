import { beforeAll, describe, expect, it } from 'vitest';
import {
  type FieldDefinition,
  type FilterExpression,
  Storage,
  type StorageHit,
  type StorageRecord,
  type StorageSearchOptions,
} from '../../../lib/index.js';
import { PostgresConnections } from '../../../src/knowledge/postgres/connections.js';
import { PostgresEngine } from '../../../src/knowledge/postgres/engine.js';
import { readFacts } from '../../../src/knowledge/postgres/facts.js';
import { filterSql } from '../../../src/knowledge/postgres/filter-sql.js';
import { pushStorage } from '../../../src/knowledge/postgres/push.js';
import { searchStatement } from '../../../src/knowledge/postgres/search-sql.js';
import { Statement } from '../../../src/knowledge/postgres/statement.js';
import { queryTerms } from '../../../src/knowledge/postgres/terms.js';
import { isRealDatabase, testDatabase } from '../../helpers/postgres.js';
import { clusteredVectors, random, testSeed } from '../../helpers/random.js';

const database = testDatabase();
const dimension = 16;
const size = 400;
const fields: FieldDefinition[] = [
  { name: 'kind', type: 'string', optional: true },
  { name: 'level', type: 'int', default: 0 },
  { name: 'weight', type: 'float', optional: true },
  { name: 'secret', type: 'bool', default: false },
  { name: 'tags', type: 'set<string>', optional: true },
  { name: 'day', type: 'int', format: 'date', optional: true },
];
const vocabulary =
  'häuser bees honey Dance glaciers e-mail node.js C++ valleys stones rivers 東京都 tides moon salt'.split(
    ' ',
  );

let records: StorageRecord[];
let vectors: Float32Array;

beforeAll(() => {
  const next = random(testSeed);
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * next() * list.length)] as T;
  vectors = clusteredVectors(size, dimension, 12, testSeed);
  records = Array.from({ length: size }, (_, n) => ({
    id: `r${n}`,
    text: Array.from({ length: 3 + Math.floor(next() * 12) }, () => pick(vocabulary)).join(' '),
    metadata: {
      ...(next() < 0.8 && { kind: pick(['item', 'being', 'Ärger', '東']) }),
      ...(next() < 0.7 && { level: n % 7 === 0 ? 9_007_199_254_740_993n + BigInt(n) : n % 9 }),
      ...(next() < 0.7 && { weight: n / 8 }),
      ...(next() < 0.5 && { secret: next() < 0.5 }),
      ...(next() < 0.6 && { tags: [pick(vocabulary), pick(vocabulary)] }),
      ...(next() < 0.6 && { day: `2024-0${1 + (n % 9)}-1${n % 10}` }),
    },
  }));
});

/** A storage, and an engine over tables that it was pushed into. */
async function both(
  tokenizer: 'basic' | 'enhanced' | 'multilingual',
  hnsw?: { m: number; efConstruction: number },
): Promise<{ storage: Storage; engine: PostgresEngine; connections: PostgresConnections }> {
  const storage = await Storage.build(records, vectors, dimension, { fields, tokenizer, kind: 'flat' });
  const connections = new PostgresConnections({ main: database.connection() });
  const { client, tables } = connections.find({ connection: 'main', table: `kb_${tokenizer}` }, 'kb.json');
  await pushStorage(storage, {
    client,
    tables,
    model: { model: 'tiny', fingerprint: 'f' },
    fields,
    hnsw,
    replace: true,
  });
  const facts = await readFacts(client, tables);
  const engine = await PostgresEngine.open({ client, tables, facts, fields, tokenizer, ef: undefined });
  return { storage, engine, connections };
}

/** Expects the same hits up to the order of those with equal scores. */
function expectSame(found: readonly StorageHit[], expected: readonly StorageHit[], about: string): void {
  const message = `${about} (seed ${testSeed})`;
  expect(found.length, message).toBe(expected.length);
  for (const [index, hit] of found.entries()) {
    const other = expected[index] as StorageHit;
    expect(hit.score, message).toBeCloseTo(other.score, 4);
    const tie = expected.filter(({ score }) => Math.abs(score - hit.score) < 2e-4);
    const same = expected.find(({ id }) => id === hit.id);
    // The last of a tie may be another record.
    if (same === undefined) {
      expect(tie.at(-1)?.rank, message).toBe(expected.length);
      continue;
    }
    expect(
      tie.map(({ id }) => id),
      message,
    ).toContain(hit.id);
    expect(hit.relevance, message).toBeCloseTo(same.relevance, 3);
    const { id, text, ordinal, metadata } = hit;
    expect({ id, text, ordinal, metadata }, message).toEqual({
      id: same.id,
      text: same.text,
      ordinal: same.ordinal,
      metadata: same.metadata,
    });
    for (const name of ['distance', 'bm25Score', 'denseScore', 'lexicalScore'] as const) {
      expect(hit[name] === undefined, `${message}: ${name}`).toBe(same[name] === undefined);
      if (hit[name] !== undefined)
        expect(hit[name], `${message}: ${name}`).toBeCloseTo(same[name] as number, 3);
    }
  }
}

const filters: FilterExpression[] = [
  { level: { '>=': 3, '<': 8 } },
  { '==': [{ knowledge: 'level' }, 9_007_199_254_740_993n] },
  { not: { '==': [{ knowledge: 'kind' }, 'item'] } },
  { or: [{ kind: { '<': 'b' } }, { weight: { '>': 12.5 } }] },
  { in: ['bees', { knowledge: 'tags' }] },
  { kind: { in: ['being', '東'], exists: true } },
  { and: [{ secret: { '==': false } }, { day: { '>=': '2024-03-01' } }] },
  { starts_with: [{ knowledge: 'kind' }, 'Ä'] },
  { '<': [{ knowledge: 'level' }, { knowledge: 'weight' }] },
  { kind: { '!=': 'a\0b' } },
];

function searches(count: number): StorageSearchOptions[] {
  const next = random(testSeed + 1);
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)] as T;
  const queries = clusteredVectors(count, dimension, 12, testSeed + 7);
  return Array.from({ length: count }, (_, n): StorageSearchOptions => {
    const text = Array.from({ length: 1 + Math.floor(next() * 4) }, () =>
      pick([...vocabulary, 'unseen']),
    ).join(' ');
    const vector = queries.subarray(n * dimension, (n + 1) * dimension);
    const filter = next() < 0.5 ? pick(filters) : undefined;
    const topK = pick([1, 5, 10, 60]);
    const common = { topK, filter, minBest: pick([undefined, undefined, 0.3, 0.9]) };
    const mode = pick(['dense', 'lexical', 'hybrid', 'hybrid', 'hybrid'] as const);
    if (mode === 'lexical') return { ...common, mode, text };
    const threshold = next() < 0.2 ? 0.9 : undefined;
    if (mode === 'dense')
      return { ...common, mode, vector, threshold, text: next() < 0.5 ? text : undefined };
    const feedback = next() < 0.4 ? 0.3 : undefined;
    const minByLeg = pick([undefined, undefined, { dense: 0.3, lexical: 0.4 }, { dense: 0.9 }]);
    if (next() < 0.4)
      return {
        ...common,
        mode,
        vector,
        text,
        threshold,
        feedback,
        minByLeg,
        rrf: { k: 20, weights: pick([{ dense: 2 }, { lexical: 0 }, {}]) },
      };
    const scores = pick([{}, { weight: 0.3 }, { weight: 1 }, { weight: 0 }]);
    const minScore = pick([undefined, 0.01]);
    return { ...common, mode, vector, text, threshold, feedback, minByLeg, scores, minScore };
  });
}

describe('a search in Postgres finds what the embedded engine finds', () => {
  for (const tokenizer of ['basic', 'enhanced', 'multilingual'] as const)
    it(`with the tokenizer ${tokenizer}`, async () => {
      const { storage, engine, connections } = await both(tokenizer);
      for (const options of searches(60)) {
        const [found, expected] = [await engine.search(options), await storage.search(options)];
        const { vector, ...shown } = options;
        const about = JSON.stringify(shown, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
        expectSame(found.hits, expected.hits, about);
        const { engine: name, dense, ...plan } = found.plan;
        expect(name).toBe('postgres');
        expect(plan.mode).toBe(expected.plan.mode);
        expect(dense && [dense.path, dense.matched], about).toEqual(
          expected.plan.dense && ['exact', expected.plan.dense.matched],
        );
        expect(plan.lexical?.tokens, about).toBe(expected.plan.lexical?.tokens);
        expect(plan.lexical?.terms, about).toBe(expected.plan.lexical?.terms);
        expect(plan.fusion?.weights?.dense ?? 0, about).toBeCloseTo(
          expected.plan.fusion?.weights?.dense ?? 0,
          4,
        );
        expect(plan.fusion?.feedback, about).toEqual(expected.plan.fusion?.feedback);
      }
      await engine.close();
      await storage.close();
      await connections.close();
    });
});

describe('the index of vectors in Postgres', () => {
  it('is walked for many matching records, finds nearly all, and is left for few', async () => {
    const { storage, engine: usual, connections } = await both('basic', { m: 16, efConstruction: 100 });
    const { client, tables } = connections.find({ connection: 'main', table: 'kb_basic' }, 'kb.json');
    const facts = await readFacts(client, tables);
    expect(facts.hnsw).toBe(true);
    const base = { client, tables, facts, fields, tokenizer: 'basic', ef: undefined } as const;
    const engine = await PostgresEngine.open({ ...base, scannedRows: 60 });
    const queries = clusteredVectors(40, dimension, 12, testSeed + 3);
    const even: FilterExpression = { level: { '<': 5 } };
    let [found, wanted] = [0, 0];
    for (let n = 0; n < 40; n++) {
      const vector = queries.subarray(n * dimension, (n + 1) * dimension);
      for (const filter of [undefined, even]) {
        const options = { mode: 'dense', vector, topK: 10, filter } as const;
        const [own, exact] = [await engine.search(options), await storage.search(options)];
        expect(own.plan.dense).toMatchObject({ path: 'graph', exact: false });
        const ids = new Set(own.hits.map(({ id }) => id));
        found += exact.hits.filter(({ id }) => ids.has(id)).length;
        wanted += exact.hits.length;
      }
    }
    expect(wanted).toBe(800);
    expect(found / wanted, `recall (seed ${testSeed})`).toBeGreaterThanOrEqual(0.99);
    const rare = {
      mode: 'dense',
      vector: queries.subarray(0, dimension),
      topK: 3,
      filter: { kind: { '==': 'none' } },
    } as const;
    expect((await engine.search(rare)).plan.dense).toMatchObject({ path: 'exact', matched: 0 });
    expect((await usual.search({ ...rare, filter: undefined })).plan.dense?.path).toBe('exact');
    // A setting of one statement is not left behind for the next.
    const [row] = await client.read({
      text: "select current_setting('hnsw.iterative_scan', true) as now",
      values: [],
    });
    expect(row?.now ?? '').not.toBe('strict_order');
    await engine.close();
    await usual.close();
    await storage.close();
    await connections.close();
  });
});

describe('hard filters with an index of vectors in Postgres', () => {
  it('have a recall of at least 0.99, whether they are rare or lie together, near or far', async () => {
    const [many, clusters] = [isRealDatabase ? 12_000 : 3000, 30];
    const vectorsOfMany = clusteredVectors(many, dimension, clusters, testSeed);
    const next = random(testSeed + 5);
    // The nearest of some vectors lie together: they are the values of a field.
    const anchors = [0, 1, 2].map((n) => vectorsOfMany.subarray(n * dimension, (n + 1) * dimension));
    const cosine = (a: Float32Array, b: Float32Array) =>
      a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
    const recordsOfMany = Array.from({ length: many }, (_, n) => {
      const vector = vectorsOfMany.subarray(n * dimension, (n + 1) * dimension);
      const near = anchors.map((anchor) => cosine(anchor, vector));
      const thousandth = Math.floor(next() * 1000);
      return {
        id: `r${n}`,
        text: `bees fly to flower ${n % 500}`,
        metadata: { level: thousandth, weight: near[0], secret: (near[1] as number) > 0.5 },
      };
    });
    const storage = await Storage.build(recordsOfMany, vectorsOfMany, dimension, { fields, kind: 'flat' });
    const connections = new PostgresConnections({ main: database.connection({ timeout_ms: 120_000 }) });
    const { client, tables } = connections.find({ connection: 'main', table: 'kb_hard' }, 'kb.json');
    const model = { model: 'tiny', fingerprint: 'f' };
    await pushStorage(storage, {
      client,
      tables,
      model,
      fields,
      hnsw: { m: 16, efConstruction: 100 },
      replace: false,
    });
    const facts = await readFacts(client, tables);
    const base = { client, tables, facts, fields, tokenizer: storage.tokenizer, ef: undefined };
    const engine = await PostgresEngine.open({ ...base, scannedRows: many / 12 });
    const weights = recordsOfMany.map(({ metadata }) => metadata.weight as number).toSorted((a, b) => a - b);
    const limit = (share: number) => weights[Math.floor(share * many)] as number;
    const filters: Record<string, FilterExpression> = {
      '0.1 %': { level: { '==': 7 } },
      '1 %': { level: { '<': 10 } },
      '10 %': { level: { '<': 100 } },
      '30 %': { level: { '>=': 700 } },
      'the nearest 1 %': { weight: { '>': limit(0.99) } },
      'the nearest 10 %': { weight: { '>': limit(0.9) } },
      'the farthest 1 %': { weight: { '<': limit(0.01) } },
      'the farthest 10 %': { weight: { '<': limit(0.1) } },
      'the farthest 30 %': { weight: { '<': limit(0.3) } },
      'those around another one': { secret: { '==': true } },
    };
    const queries = clusteredVectors(10, dimension, clusters, testSeed + 9);
    const asked = [
      ...anchors,
      ...Array.from({ length: 10 }, (_, n) => queries.subarray(n * dimension, (n + 1) * dimension)),
    ];
    const paths = new Set<string>();
    for (const [name, filter] of Object.entries(filters)) {
      let [found, wanted] = [0, 0];
      for (const vector of asked) {
        const options = { mode: 'dense', vector, topK: 10, filter } as const;
        const [own, exact] = [await engine.search(options), await storage.search(options)];
        const ids = new Set(exact.hits.map(({ id }) => id));
        found += own.hits.filter(({ id }) => ids.has(id)).length;
        wanted += exact.hits.length;
        paths.add(`${name}: ${own.plan.dense?.path}`);
        expect(own.plan.dense?.matched).toBe(exact.plan.dense?.matched);
      }
      expect(found / wanted, `${name} (seed ${testSeed})`).toBeGreaterThanOrEqual(0.99);
    }
    expect([...paths], [...paths].join('; ')).toEqual(
      expect.arrayContaining(['10 %: graph', '30 %: graph', 'the farthest 10 %: graph']),
    );
    await engine.close();
    await storage.close();
    await connections.close();
  });

  it('are answered by the indexes of the metadata', async () => {
    const connections = new PostgresConnections({ main: database.connection() });
    const { client, tables } = connections.find({ connection: 'main', table: 'kb_hard' }, 'kb.json');
    const rare: FilterExpression[] = [
      { level: { '==': 7 } },
      { level: { in: [7, 9] } },
      { and: [{ level: { '>': 990 } }, { not: { kind: { '==': 'x' } } }] },
      { kind: { '==': 'x' } },
      { kind: { in: ['x', 'y'] } },
      { in: ['x', { knowledge: 'tags' }] },
      { or: [{ in: ['x', { knowledge: 'tags' }] }, { level: { '==': 3 } }] },
    ];
    for (const filter of rare) {
      const statement = new Statement();
      const where = filterSql(filter, {}, { fields, statement, table: 'r' });
      const text = `explain (costs off) select count(*) from ${tables.records} r where ${where}`;
      const plan = await client.read({ text, values: statement.values });
      const lines = plan.map((row) => row['QUERY PLAN'] as string).join('\n');
      expect(lines, JSON.stringify(filter)).toMatch(/Index (Only )?Scan (on|using)/);
      expect(lines, JSON.stringify(filter)).not.toContain('Seq Scan');
    }
    await connections.close();
  });

  it('and rare words of a query are looked up, not read with those of all records', async () => {
    const connections = new PostgresConnections({ main: database.connection() });
    const { client, tables } = connections.find({ connection: 'main', table: 'kb_hard' }, 'kb.json');
    const { terms } = queryTerms('7 9', 'basic');
    for (const filter of [undefined, { level: { '<': 500 } } as FilterExpression]) {
      const { text, values } = searchStatement({
        ...{ tables, terms, dense: undefined, vector: undefined, isZero: false },
        lexical: { depth: 10 },
        filter: filter && ((statement, table) => filterSql(filter, {}, { fields, statement, table })),
      });
      const plan = await client.read({ text: `explain (costs off) ${text}`, values });
      const lines = plan.map((row) => row['QUERY PLAN'] as string).join('\n');
      expect(lines).toMatch(/Index Cond: .*term = ANY/);
      const scans = [...lines.matchAll(/ on kb_hard_words\b.*\n(.*)/g)].map(([, below]) => below);
      expect(scans.length).toBeGreaterThan(0);
      for (const below of scans) expect(below, lines).toMatch(/^ *(Index|Recheck) Cond:/);
    }
    await connections.close();
  });
});
