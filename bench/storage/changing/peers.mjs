// The dense curve of other programs: searches per second after a share of the rows was replaced, as a share of those
// before. A peer that is not installed is left out.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, scattered } from './data.mjs';

const require = createRequire(import.meta.url);
const shares = [0, 0.01, 0.05, 0.1, 0.2];
const topK = 10;
const numberOf = (id) => Number(id.slice(1));

/** hnswlib: markDelete, and replaceDeleted for the new row. */
function hnswlib(made, count) {
  const { HierarchicalNSW } = require('hnswlib-node');
  const index = new HierarchicalNSW('cosine', made.dimension);
  index.initIndex({ maxElements: count + 1, m: 16, efConstruction: 200, allowReplaceDeleted: true });
  index.setEf(96);
  let next = count;
  const places = new Map();
  return {
    build: (rows) => {
      for (const [at, row] of rows.entries()) index.addPoint([...row], at);
    },
    replace: (numbers, rows) => {
      for (const [i, number] of numbers.entries()) {
        index.markDelete(places.get(number) ?? number);
        places.set(number, next);
        index.addPoint([...rows[i]], next++, true);
      }
    },
    prepare: (row) => [...row],
    search: (query) => index.searchKnn(query, topK),
  };
}

function usearch(made) {
  const { Index } = require('usearch');
  const index = new Index({
    dimensions: made.dimension,
    metric: 'cos',
    quantization: 'f32',
    connectivity: 16,
    expansion_add: 200,
    expansion_search: 96,
    multi: false,
  });
  return {
    build: (rows) => {
      for (const [at, row] of rows.entries()) index.add(BigInt(at), row);
    },
    replace: (numbers, rows) => {
      for (const [i, number] of numbers.entries()) {
        index.remove(BigInt(number));
        index.add(BigInt(number), rows[i]);
      }
    },
    prepare: (row) => row,
    search: (query) => index.search(query, topK, 1),
  };
}

/** LanceDB scans rows that its index does not have yet. */
async function lancedb() {
  process.env.LANCE_LOG ??= 'error';
  const lance = require('@lancedb/lancedb');
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const db = await lance.connect(folder);
  let table;
  const data = (numbers, rows) => numbers.map((id, i) => ({ id, vector: [...rows[i]] }));
  return {
    async build(rows) {
      table = await db.createTable('rows', data([...rows.keys()], rows), { mode: 'overwrite' });
      const config = lance.Index.hnswSq({
        distanceType: 'cosine',
        numPartitions: 1,
        m: 16,
        efConstruction: 200,
      });
      await table.createIndex('vector', { config });
    },
    async replace(numbers, rows) {
      await table
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute(data(numbers, rows));
    },
    prepare: (row) => row,
    search: (query) =>
      table
        .query()
        .nearestTo(query)
        .distanceType('cosine')
        .ef(96)
        .limit(topK)
        .select(['id', '_distance'])
        .toArray(),
  };
}

const rowsOf = ({ vectors }, dimension) =>
  Array.from({ length: vectors.length / dimension }, (_, i) =>
    vectors.slice(i * dimension, (i + 1) * dimension),
  );

async function curveOf(peer, made, { count, batch, rounds, queries }) {
  await peer.build(rowsOf(made.make(Array.from({ length: count }, (_, i) => `r${i}`)), made.dimension));
  const asked = made.queries(queries).map(({ vector }) => peer.prepare(vector));
  const row = {};
  let before;
  let changed = 0;
  for (const share of shares) {
    while (changed < share * count) {
      const ids = scattered(changed, Math.min(batch, Math.ceil(share * count - changed)), count);
      await peer.replace(ids.map(numberOf), rowsOf(made.make(ids), made.dimension));
      changed += ids.length;
    }
    const times = asked.map(() => []);
    for (let round = 0; round <= rounds; round++) {
      for (const [at, query] of asked.entries()) {
        const started = performance.now();
        await peer.search(query);
        if (round > 0) times[at].push(performance.now() - started);
      }
    }
    const total = times.map(median).reduce((a, b) => a + b, 0);
    before ??= total;
    row[`${Math.round(100 * share)} %`] = before / total;
  }
  return row;
}

export async function peers(made, sizes) {
  const rows = [];
  for (const [name, open] of Object.entries({ 'hnswlib, markDelete': hnswlib, usearch, LanceDB: lancedb })) {
    let peer;
    try {
      peer = await open(made, sizes.count);
    } catch (error) {
      console.log(`${name} is left out: ${error.message.split('\n')[0]}`);
      continue;
    }
    rows.push({ name, ...(await curveOf(peer, made, sizes)) });
  }
  return {
    title: `${sizes.count} rows x ${made.dimension}: dense searches per second after replacing rows, as a share of those before`,
    columns: [
      { key: 'name', label: '' },
      ...shares.map((share) => ({
        key: `${Math.round(100 * share)} %`,
        label: `${Math.round(100 * share)} %`,
        digits: 2,
      })),
    ],
    rows,
  };
}
