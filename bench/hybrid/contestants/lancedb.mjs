// LanceDB: IVF_HNSW_SQ in one partition and a full-text index on one table; hybrid by its reciprocal rank fusion.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cached } from '../../harness/cache.mjs';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { timeModes } from '../../harness/modes.mjs';
import { readTexts } from '../../harness/texts.mjs';
import { baseRows, queryRows } from '../../vector/sets.mjs';

process.env.LANCE_LOG ??= 'error';
process.env.RUST_LOG ??= 'error';
const require = createRequire(import.meta.url);
const lancedb = require('@lancedb/lancedb');
const arrow = require('apache-arrow');
const { set, topK } = contestantOptions();
const vectors = queryRows(set);
const { texts, queries } = await readTexts(set.rows, set.queries);
const folder = cached('indexes', `${set.name}.hybrid-${process.pid}`);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let table;
let reranker;

serve({
  async build() {
    const rows = arrow.makeData({ type: new arrow.Float32(), data: baseRows(set) });
    const item = new arrow.Field('item', new arrow.Float32(), true);
    const type = new arrow.FixedSizeList(set.dimension, item);
    const vector = new arrow.Vector([arrow.makeData({ type, length: set.rows, child: rows })]);
    const id = arrow.makeVector(Int32Array.from({ length: set.rows }, (_, row) => row));
    const text = arrow.vectorFromArray(texts, new arrow.Utf8());
    const database = await lancedb.connect(folder);
    table = await database.createTable('rows', new arrow.Table({ id, text, vector }));
    const begin = performance.now();
    const graph = { distanceType: 'cosine', numPartitions: 1, m: 16, efConstruction: 200 };
    await table.createIndex('vector', { config: lancedb.Index.hnswSq(graph) });
    await table.createIndex('text', { config: lancedb.Index.fts({ withPosition: false }) });
    reranker = await lancedb.rerankers.RRFReranker.create();
    return (performance.now() - begin) / 1000;
  },
  ask: () => timeModes(set.queries, (mode, i) => search(mode, i).limit(topK).toArrow()),
});

function search(mode, i) {
  const vector = vectors.subarray(i * set.dimension, (i + 1) * set.dimension);
  const query = table.query();
  if (mode === 'lexical') return query.fullTextSearch(queries[i]).select(['id', '_score']);
  const nearest = query.nearestTo(vector).distanceType('cosine').ef(96).refineFactor(2);
  if (mode === 'dense') return nearest.select(['id', '_distance']);
  return nearest.fullTextSearch(queries[i]).rerank(reranker);
}
