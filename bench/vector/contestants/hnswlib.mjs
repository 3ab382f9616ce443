// hnswlib-node: rows are added one by one, on one thread (it offers no other way).
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { contestantOptions, serve, timeQueries } from '../../harness/contestant.mjs';
import { baseRows, queryRows } from '../sets.mjs';

const hnswlib = createRequire(import.meta.url)('hnswlib-node');
const { set } = contestantOptions();
const all = queryRows(set);
const queries = Array.from({ length: set.queries }, (_, i) => [
  ...all.subarray(i * set.dimension, (i + 1) * set.dimension),
]);
let index;
let columns;

serve({
  build(given) {
    columns = given;
    const rows = baseRows(set);
    const begin = performance.now();
    index = new hnswlib.HierarchicalNSW('ip', set.dimension);
    index.initIndex(set.rows, 16, 200, 100);
    for (let row = 0; row < set.rows; row++) {
      index.addPoint([...rows.subarray(row * set.dimension, (row + 1) * set.dimension)], row);
    }
    return (performance.now() - begin) / 1000;
  },
  search({ ef, k }) {
    index.setEf(ef);
    return timeQueries(set.queries, k, (i) => index.searchKnn(queries[i], k).neighbors);
  },
  filtered({ ef, k, filters }) {
    index.setEf(ef);
    return timeQueries(set.queries, k, (i) => index.searchKnn(queries[i], k, passes(filters[i])).neighbors);
  },
});

function passes(filter) {
  if (!filter) return undefined;
  const [field, from, to] = filter;
  const values = columns[field];
  return (label) => values[label] >= from && values[label] < to;
}
