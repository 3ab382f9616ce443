// An HNSW index of pgvector at one size: build, bytes, and queries per second at recall 0.99, without and with a filter, for vectors in
// full precision, in half precision, and as bits whose candidates are compared again in half precision; beside the embedded engine.
//
//   node bench/vector/postgres.mjs [--set latent|clusters] [--rows N] [--dimension N] [--queries N] [--seed N] [--m N] [--ef-construction N]
//
// Caveats: one client, one query at a time, and everything fits the memory. The server is one of its own, as `npm run test:postgres`
// starts it, without fsync; queries go through a socket, those of the embedded engine do not. SQL is plain pgvector, not that of the
// engine `postgres`, which adds counting and texts. A filter is a column with an index; 1 % is few enough to be sorted exactly.

import pg from 'pg';
import { Cluster } from '../../scripts/postgres/cluster.mjs';
import { postgresWithVectors } from '../../scripts/postgres/program.mjs';
import { runTrial } from '../harness/trial.mjs';
import { VectorIndex } from '../lorekeep.mjs';
import { baseRows, describeSet, queryRows, vectorSet } from './sets.mjs';
import { Truth } from './truth.mjs';

const k = 10;
const wantedRecall = 0.99;
const efs = [10, 20, 40, 80, 160, 320, 640, 1000];
const rowsAtOnce = 500;
const megabyte = 2 ** 20;
const shares = { half: 0.5, tenth: 0.1, hundredth: 0.01 };
const columns = [
  { key: 'name', label: 'index' },
  { key: 'build', label: 'build, s' },
  { key: 'index', label: 'index, MB' },
  { key: 'table', label: 'rows, MB' },
  { key: 'ef', label: 'candidates', digits: 0 },
  { key: 'recall', label: 'recall@10', digits: 3 },
  { key: 'rate', label: 'queries/s' },
  ...Object.entries({ half: '50 %', tenth: '10 %', hundredth: '1 %' }).flatMap(([key, label]) => [
    { key: `${key}Recall`, label: `${label}: recall`, digits: 3 },
    { key: `${key}Rate`, label: 'queries/s' },
  ]),
];

const defaults = {
  set: 'latent',
  rows: 50_000,
  dimension: 384,
  queries: 100,
  seed: 7,
  m: 16,
  'ef-construction': 100,
};

/** The groups that filters ask for: 1,000 of equal size, independent of the vectors. */
const groupOf = (row) => (Math.imul(row + 1, 2_654_435_761) >>> 0) % 1000;

/** Kinds of an index: the column, the expression and operators of the index, and the select of the nearest rows. */
const kinds = (dimension) => ({
  'pgvector, full precision': {
    column: `vector(${dimension})`,
    on: '(embedding vector_cosine_ops)',
    select: (where) => `select row, embedding from v where ${where} order by embedding <=> $1::vector limit`,
  },
  'pgvector, half precision': {
    column: `halfvec(${dimension})`,
    on: '(embedding halfvec_cosine_ops)',
    select: (where) => `select row, embedding from v where ${where} order by embedding <=> $1::halfvec limit`,
  },
  'pgvector, bits, compared again': {
    column: `halfvec(${dimension})`,
    on: `((binary_quantize(embedding)::bit(${dimension})) bit_hamming_ops)`,
    select: (where) =>
      `select row, embedding from v where ${where} order by binary_quantize(embedding)::bit(${dimension}) <~> binary_quantize($1::halfvec(${dimension}))::bit(${dimension}) limit`,
  },
});

const textOf = (vector) => `[${vector.join(',')}]`;

class Database {
  constructor(client, set) {
    this.client = client;
    this.set = set;
    this.queries = queryRows(set);
  }

  async fill({ column }) {
    const { rows, dimension } = this.set;
    const vectors = baseRows(this.set);
    await this.client.query('drop table if exists v');
    await this.client.query(
      `create table v (row int not null, part int not null, embedding ${column} not null)`,
    );
    await this.client.query('alter table v alter column embedding set storage plain');
    for (let at = 0; at < rows; at += rowsAtOnce) {
      const some = Array.from({ length: Math.min(rowsAtOnce, rows - at) }, (_, i) => at + i);
      const texts = some.map(
        (row) => `"${textOf(vectors.subarray(row * dimension, (row + 1) * dimension))}"`,
      );
      const arrays = [some, some.map(groupOf), texts].map((values) => `{${values.join(',')}}`);
      await this.client.query(
        `insert into v select r, p, e::${column} from unnest($1::int[], $2::int[], $3::text[]) as u(r, p, e)`,
        arrays,
      );
    }
    await this.client.query('create index on v (part)');
    await this.client.query('analyze v');
  }

  async bytes(name) {
    const { rows } = await this.client.query(`select pg_relation_size('${name}')::float8 as bytes`);
    return rows[0].bytes;
  }

  /** Asks all queries. Returns the rows that were found, k to a query, and queries per second. `ef`: candidates. */
  async ask({ column, select }, { ef, where = 'true' }) {
    const { queries, dimension } = this.set;
    // Bits only choose candidates, and a relaxed order is not that of the distances: both are sorted again.
    const nearest = `select row from (${select(where)} ${Math.max(ef, k)}) c order by embedding <=> $1::${column} limit ${k}`;
    await this.client.query(`set hnsw.ef_search = ${Math.min(1000, Math.max(ef, k))}`);
    const found = new Int32Array(queries * k).fill(-1);
    const texts = Array.from({ length: queries }, (_, i) =>
      textOf(this.queries.subarray(i * dimension, (i + 1) * dimension)),
    );
    const started = performance.now();
    for (const [i, text] of texts.entries()) {
      const { rows } = await this.client.query({ text: nearest, values: [text] });
      found.set(
        rows.map(({ row }) => row),
        i * k,
      );
    }
    return { found, rate: (1000 * queries) / (performance.now() - started) };
  }
}

/** Raises the number of candidates until the recall is reached; the last number stands if it is not. */
async function untilRecall(ask, recallOf) {
  let last;
  for (const ef of efs) {
    const { found, rate } = await ask(ef);
    last = { ef, recall: recallOf(found), rate };
    if (last.recall >= wantedRecall) break;
  }
  return last;
}

const passesOf = (share) => (_, row) => groupOf(row) < 1000 * share;

async function measureAll({ truth, limits, filtered }, ask) {
  const all = await untilRecall(
    (ef) => ask(ef),
    (found) => truth.recall(found, k, limits),
  );
  const result = { ...all };
  for (const [name, share] of Object.entries(shares)) {
    const recallOf = (found) => truth.recall(found, k, filtered[name], passesOf(share));
    const { recall, rate } = await untilRecall((ef) => ask(ef, name), recallOf);
    result[`${name}Recall`] = recall;
    result[`${name}Rate`] = rate;
  }
  return result;
}

const ordinalsOf = (rows, share) =>
  Uint32Array.from(Array.from({ length: rows }, (_, row) => row).filter((row) => passesOf(share)(0, row)));

async function embedded(set, measured, { m, efConstruction }) {
  const vectors = baseRows(set);
  const queries = queryRows(set);
  const started = performance.now();
  const index = await VectorIndex.build(vectors, set.dimension, {
    kind: 'hnsw',
    m,
    efConstruction,
    vectorType: 'f16',
  });
  const build = (performance.now() - started) / 1000;
  const ordinals = Object.fromEntries(
    Object.entries(shares).map(([name, share]) => [name, ordinalsOf(set.rows, share)]),
  );
  const ask = async (ef, filterName) => {
    const found = new Int32Array(set.queries * k).fill(-1);
    const begun = performance.now();
    for (let i = 0; i < set.queries; i++) {
      const query = queries.subarray(i * set.dimension, (i + 1) * set.dimension);
      const filter = filterName === undefined ? undefined : ordinals[filterName];
      const { ordinals: rows } = await index.search(query, { k, ef: Math.max(ef, k), filter });
      found.set(rows, i * k);
    }
    return { found, rate: (1000 * set.queries) / (performance.now() - begun) };
  };
  const row = { name: 'lorekeep, half precision', build, index: index.memoryBytes / megabyte };
  Object.assign(row, await measureAll(measured, ask));
  await index.close();
  return row;
}

await runTrial(
  'postgres-vectors',
  defaults,
  async ({ set: name, m, 'ef-construction': efConstruction, ...shape }) => {
    const set = vectorSet(name, shape);
    const truth = await Truth.of(set);
    const limits = await truth.limits(k);
    const filtered = {};
    for (const [key, share] of Object.entries(shares)) {
      const ordinals = ordinalsOf(set.rows, share);
      filtered[key] = await truth.limits(k, () => ordinals);
    }
    const measured = { truth, limits, filtered };
    const rows = [await embedded(set, measured, { m, efConstruction })];
    const cluster = await Cluster.start(await postgresWithVectors());
    try {
      const [host, port] = cluster.address.split(':');
      const client = new pg.Client({ host, port: Number(port), user: 'postgres', database: 'postgres' });
      await client.connect();
      await client.query('create extension vector');
      for (const setting of [
        "maintenance_work_mem = '1GB'",
        'jit = off',
        'hnsw.iterative_scan = relaxed_order',
      ])
        await client.query(`set ${setting}`);
      await client.query('set hnsw.scan_mem_multiplier = 16');
      for (const [title, kind] of Object.entries(kinds(set.dimension))) {
        const database = new Database(client, set);
        await database.fill(kind);
        const started = performance.now();
        await client.query(
          `create index near on v using hnsw ${kind.on} with (m = ${Math.trunc(m)}, ef_construction = ${Math.trunc(efConstruction)})`,
        );
        const row = { name: title, build: (performance.now() - started) / 1000 };
        row.index = (await database.bytes('near')) / megabyte;
        row.table = (await database.bytes('v')) / megabyte;
        const ask = (ef, filterName) => {
          const where = filterName === undefined ? undefined : `part < ${1000 * shares[filterName]}`;
          return database.ask(kind, { ef, where });
        };
        Object.assign(row, await measureAll(measured, ask));
        rows.push(row);
      }
      await client.end();
    } finally {
      await cluster.stop();
    }
    await truth.close();
    const title = `At the first number of candidates (${efs.join(', ')}) with a recall@10 of ${wantedRecall}, m ${m}, ef_construction ${efConstruction}`;
    return { tables: [{ id: 'postgres-vectors', title, columns, rows }], data: describeSet(set) };
  },
);
