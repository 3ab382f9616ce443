import { rmSync } from 'node:fs';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { grownBy } from '../../harness/memory.mjs';
import { timeQueries } from '../../harness/queries.mjs';
import { timeRate } from '../../harness/rate.mjs';
import { Storage, VectorIndex } from '../../lorekeep.mjs';
import { expressionOf, fieldsOf, recordsOf } from '../filters.mjs';
import { indexFile } from '../index-file.mjs';
import { bindToOneCore } from '../one-core.mjs';
import { baseRows, queryRows } from '../sets.mjs';

const {
  set,
  threads = 2,
  vectorType = 'f32',
  path = indexFile(set, 'lorekeep'),
  bound = false,
} = contestantOptions();
if (bound) bindToOneCore();
const queries = queryRows(set);
const query = (i) => queries.subarray(i * set.dimension, (i + 1) * set.dimension);
let index;

serve({
  /** Seconds. `columns`: a storage whose integer fields they are, for filters; else the index alone. */
  async build({ columns, save = false } = {}) {
    const rows = baseRows(set);
    const options = { m: 16, efConstruction: 200, threads, vectorType };
    const begin = performance.now();
    if (columns) {
      const fields = fieldsOf(columns);
      index = await Storage.build(recordsOf(columns), rows, set.dimension, { ...options, fields });
    } else index = await VectorIndex.build(rows, set.dimension, options);
    const seconds = (performance.now() - begin) / 1000;
    if (save) await index.save(path);
    return seconds;
  },
  open: () =>
    grownBy(async () => {
      index = await VectorIndex.load(path);
      await index.search(query(0), { k: 10 });
    }),
  search: ({ ef, k, budget }) =>
    timeQueries(set.queries, k, async (i) => (await index.search(query(i), { k, ef })).ordinals, budget),
  /** `size` queries in one call, on all threads; a single one by the call for one. */
  batches({ ef, k, size, ...times }) {
    const parts = Math.floor(set.queries / size);
    const part = (n) =>
      queries.subarray((n % parts) * size * set.dimension, ((n % parts) + 1) * size * set.dimension);
    const call =
      size === 1 ? (n) => index.search(part(n), { k, ef }) : (n) => index.searchMany(part(n), { k, ef });
    return timeRate(call, times);
  },
  /** `filters[i]` is the condition of query i: [field, from, to], to excluded; or nothing. */
  async filtered({ ef, k, filters, budget }) {
    const paths = { exact: 0, graph: 0, cells: 0 };
    const compiled = new Map();
    for (const filter of filters) {
      const key = filter?.join();
      if (filter && !compiled.has(key)) compiled.set(key, index.compileFilter(expressionOf(filter)));
    }
    const search = async (i) => {
      const filter = filters[i] && compiled.get(filters[i].join());
      const { hits, plan } = await index.search({ mode: 'dense', vector: query(i), topK: k, ef, filter });
      paths[plan.dense.path]++;
      return hits.map(({ ordinal }) => ordinal);
    };
    return { ...(await timeQueries(set.queries, k, search, budget)), paths };
  },
  remove: () => rmSync(path, { force: true }),
});
