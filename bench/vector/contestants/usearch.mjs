// usearch: expansion_search is fixed when an index is made, so each width is the same file, loaded again.
import { createRequire } from 'node:module';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { grownBy } from '../../harness/memory.mjs';
import { timeQueries } from '../../harness/queries.mjs';
import { timeRate } from '../../harness/rate.mjs';
import { indexFile, indexFileThere } from '../index-file.mjs';
import { baseRows, queryRows } from '../sets.mjs';

const usearch = createRequire(import.meta.url)('usearch');
const { set, quantization = 'f32', threads = 2 } = contestantOptions();
const all = queryRows(set);
const queries = Array.from({ length: set.queries }, (_, i) =>
  all.slice(i * set.dimension, (i + 1) * set.dimension),
);
const path = indexFile(set, `usearch ${quantization}`, 'usearch');
const defaultWidth = 64;
let loaded;

const make = (ef) =>
  new usearch.Index({
    dimensions: set.dimension,
    metric: 'cos',
    quantization,
    connectivity: 16,
    expansion_add: 200,
    expansion_search: ef,
    multi: false,
  });

function loadFor(ef) {
  if (loaded?.ef === ef) return;
  loaded = { ef, index: make(ef) };
  loaded.index.load(path);
}

serve({
  /** The file is always saved: a search loads it. */
  build() {
    const index = make(defaultWidth);
    const keys = BigUint64Array.from({ length: set.rows }, (_, row) => BigInt(row));
    const rows = baseRows(set).slice();
    const begin = performance.now();
    index.add(keys, rows, threads);
    const seconds = (performance.now() - begin) / 1000;
    index.save(path);
    loaded = undefined;
    return seconds;
  },
  open() {
    if (!indexFileThere(path)) return undefined;
    return grownBy(() => {
      loadFor(defaultWidth);
      loaded.index.search(queries[0], 10, 1);
    });
  },
  search({ ef, k, budget }) {
    loadFor(ef);
    return timeQueries(set.queries, k, (i) => loaded.index.search(queries[i], k, 1).keys, budget);
  },
  /** `size` queries in one call, on `on` threads. */
  batches({ ef, k, size, on = threads, ...times }) {
    loadFor(ef);
    const parts = Math.floor(set.queries / size);
    const part = (n) =>
      all.subarray((n % parts) * size * set.dimension, ((n % parts) + 1) * size * set.dimension);
    return timeRate((n) => loaded.index.search(part(n), k, size === 1 ? 1 : on), times);
  },
});
