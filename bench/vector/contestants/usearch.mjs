// usearch: expansion_search is fixed when an index is made, so each width is the same file, loaded again.
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { contestantOptions, serve, timeQueries } from '../../harness/contestant.mjs';
import { baseRows, queryRows } from '../sets.mjs';

const usearch = createRequire(import.meta.url)('usearch');
const { set, quantization = 'f32', threads = 2 } = contestantOptions();
const all = queryRows(set);
const queries = Array.from({ length: set.queries }, (_, i) =>
  all.slice(i * set.dimension, (i + 1) * set.dimension),
);
const path = join(tmpdir(), `lorekeep-bench-${process.pid}.usearch`);
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

serve({
  build() {
    const index = make(64);
    const keys = BigUint64Array.from({ length: set.rows }, (_, row) => BigInt(row));
    const rows = baseRows(set).slice();
    const begin = performance.now();
    index.add(keys, rows, threads);
    const seconds = (performance.now() - begin) / 1000;
    index.save(path);
    return seconds;
  },
  search({ ef, k }) {
    if (loaded?.ef !== ef) {
      loaded = { ef, index: make(ef) };
      loaded.index.load(path);
    }
    return timeQueries(set.queries, k, (i) => loaded.index.search(queries[i], k, 1).keys);
  },
});
