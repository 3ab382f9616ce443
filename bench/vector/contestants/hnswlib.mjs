// hnswlib-node: rows are added one by one, on one thread (it offers no other way).
import { createRequire } from 'node:module';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { grownBy } from '../../harness/memory.mjs';
import { timeQueries } from '../../harness/queries.mjs';
import { timeRate } from '../../harness/rate.mjs';
import { indexFile, indexFileThere } from '../index-file.mjs';
import { baseRows, queryRows } from '../sets.mjs';

const hnswlib = createRequire(import.meta.url)('hnswlib-node');
const { set } = contestantOptions();
const all = queryRows(set);
const queries = Array.from({ length: set.queries }, (_, i) => [
  ...all.subarray(i * set.dimension, (i + 1) * set.dimension),
]);
const path = indexFile(set, 'hnswlib', 'hnswlib-node');
let index;
let columns;

serve({
  build({ save = false, columns: given } = {}) {
    columns = given;
    const rows = baseRows(set);
    const begin = performance.now();
    index = new hnswlib.HierarchicalNSW('ip', set.dimension);
    index.initIndex(set.rows, 16, 200, 100);
    for (let row = 0; row < set.rows; row++) {
      index.addPoint([...rows.subarray(row * set.dimension, (row + 1) * set.dimension)], row);
    }
    const seconds = (performance.now() - begin) / 1000;
    if (save) index.writeIndexSync(path);
    return seconds;
  },
  /** Undefined where no file was kept. */
  open({ columns: given } = {}) {
    columns = given;
    if (!indexFileThere(path)) return undefined;
    return grownBy(() => {
      index = new hnswlib.HierarchicalNSW('ip', set.dimension);
      index.readIndexSync(path);
      index.searchKnn(queries[0], 10);
    });
  },
  search({ ef, k, budget }) {
    index.setEf(ef);
    return timeQueries(set.queries, k, (i) => index.searchKnn(queries[i], k).neighbors, budget);
  },
  /** It has no call for many queries: a loop. */
  batches({ ef, k, size, ...times }) {
    index.setEf(ef);
    const loop = (n) => {
      for (let i = 0; i < size; i++) index.searchKnn(queries[(n * size + i) % queries.length], k);
    };
    return timeRate(loop, times);
  },
  filtered({ ef, k, filters, budget }) {
    index.setEf(ef);
    const search = (i) => index.searchKnn(queries[i], k, passes(filters[i])).neighbors;
    return timeQueries(set.queries, k, search, budget);
  },
});

function passes(filter) {
  if (!filter) return undefined;
  const [field, from, to] = filter;
  const values = columns[field];
  return (label) => values[label] >= from && values[label] < to;
}
