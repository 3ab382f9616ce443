// LanceDB: IVF_HNSW_SQ in one partition (the fastest of its indexes here), prefilter on, a B-tree index per column.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cached } from '../../harness/cache.mjs';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { timeQueries } from '../../harness/queries.mjs';
import { baseRows, queryRows } from '../sets.mjs';

process.env.LANCE_LOG ??= 'error'; // a warning per query otherwise
process.env.RUST_LOG ??= 'error';
const require = createRequire(import.meta.url);
const lancedb = require('@lancedb/lancedb');
const arrow = require('apache-arrow');
const { set } = contestantOptions();
const queries = queryRows(set);
const query = (i) => queries.subarray(i * set.dimension, (i + 1) * set.dimension);
const refine = 2; // Times k candidates are scored again on the f32 rows; without it recall stays below 0.95.
const folder = cached('indexes', `${set.name}.lancedb-${process.pid}`);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let table;

serve({
  async build({ columns = {} } = {}) {
    const db = await lancedb.connect(folder);
    table = await db.createTable('rows', arrowTable(columns), { mode: 'overwrite' });
    const begin = performance.now();
    await table.createIndex('vector', {
      config: lancedb.Index.hnswSq({ distanceType: 'cosine', numPartitions: 1, m: 16, efConstruction: 200 }),
    });
    for (const name of Object.keys(columns)) await table.createIndex(name, { config: lancedb.Index.btree() });
    return (performance.now() - begin) / 1000;
  },
  search: ({ ef, k, budget }) => timeQueries(set.queries, k, (i) => run(i, k, ef), budget),
  filtered: ({ ef, k, filters, budget }) =>
    timeQueries(set.queries, k, (i) => run(i, k, ef, filters[i]), budget),
});

async function run(i, k, ef, filter) {
  let search = table
    .query()
    .nearestTo(query(i))
    .distanceType('cosine')
    .ef(Math.max(ef, k * refine))
    .refineFactor(refine)
    .limit(k)
    .select(['id', '_distance']);
  if (filter) search = search.where(`${filter[0]} >= ${filter[1]} AND ${filter[0]} < ${filter[2]}`);
  const found = await search.toArrow();
  return found.getChild('id').toArray();
}

function arrowTable(columns) {
  const vectors = arrow.makeData({
    type: new arrow.FixedSizeList(set.dimension, new arrow.Field('item', new arrow.Float32(), true)),
    length: set.rows,
    child: arrow.makeData({ type: new arrow.Float32(), data: baseRows(set).slice() }),
  });
  const numbers = (values) => arrow.makeVector(Int32Array.from(values));
  const content = {
    id: numbers({ length: set.rows, ...Array.from({ length: set.rows }, (_, row) => row) }),
    vector: new arrow.Vector([vectors]),
  };
  for (const [name, values] of Object.entries(columns)) content[name] = numbers(values);
  return new arrow.Table(content);
}
