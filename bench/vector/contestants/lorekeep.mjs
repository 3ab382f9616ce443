import { performance } from 'node:perf_hooks';
import { contestantOptions, serve, timeQueries } from '../../harness/contestant.mjs';
import { Storage, VectorIndex } from '../../lorekeep.mjs';
import { baseRows, queryRows } from '../sets.mjs';

const { set, threads = 2, vectorType, records } = contestantOptions();
const queries = queryRows(set);
const query = (i) => queries.subarray(i * set.dimension, (i + 1) * set.dimension);
let index;

serve({
  /** Seconds. `records`: a storage whose integer fields are the columns, for filters; else the index alone. */
  async build(columns) {
    const rows = baseRows(set);
    const options = { m: 16, efConstruction: 200, threads };
    if (vectorType) options.vectorType = vectorType;
    const begin = performance.now();
    if (records)
      index = await Storage.build(recordsWith(columns), rows, set.dimension, {
        ...options,
        fields: fieldsOf(columns),
      });
    else index = await VectorIndex.build(rows, set.dimension, options);
    return (performance.now() - begin) / 1000;
  },
  search: ({ ef, k }) =>
    timeQueries(set.queries, k, async (i) => (await index.search(query(i), { k, ef })).ordinals),
  /** Batches of `size` queries in one call, on all threads. */
  batches: ({ ef, k, size }) =>
    timeQueries(Math.floor(set.queries / size), k * size, async (i) => {
      const part = queries.subarray(i * size * set.dimension, (i + 1) * size * set.dimension);
      const hits = await index.searchMany(part, { k, ef });
      return hits.flatMap(({ ordinals }) => [...ordinals]);
    }),
  /** `filters[i]` is the condition of query i: [field, from, to], to excluded; or nothing. */
  async filtered({ ef, k, filters }) {
    const paths = { exact: 0, graph: 0 };
    const compiled = new Map();
    for (const filter of filters) {
      const key = filter?.join();
      if (filter && !compiled.has(key)) compiled.set(key, index.compileFilter(expressionOf(filter)));
    }
    const timed = await timeQueries(set.queries, k, async (i) => {
      const filter = filters[i] && compiled.get(filters[i].join());
      const { hits, plan } = await index.search({ mode: 'dense', vector: query(i), topK: k, ef, filter });
      paths[plan.dense.path]++;
      return hits.map(({ ordinal }) => ordinal);
    });
    return { ...timed, paths };
  },
});

const fieldsOf = (columns) => Object.keys(columns).map((name) => ({ name, type: 'int', default: 0 }));

function recordsWith(columns) {
  return Array.from({ length: set.rows }, (_, row) => ({
    id: String(row),
    text: 'x',
    metadata: Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[row]])),
  }));
}

const expressionOf = ([field, from, to]) => ({
  and: [{ '>=': [{ knowledge: field }, from] }, { '<': [{ knowledge: field }, to] }],
});
