// Quality and time of searches in Postgres beside the embedded engine, on one collection: the same nDCG is expected. The database is
// PGlite in this process, which is much slower than a server: its times say nothing about one.
import { PGlite } from '@electric-sql/pglite';
import { vector as pgvector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { PostgresConnections } from '../../dist/src/knowledge/index.js';
import { PostgresEngine } from '../../dist/src/knowledge/postgres/engine.js';
import { readFacts } from '../../dist/src/knowledge/postgres/facts.js';
import { pushStorage } from '../../dist/src/knowledge/postgres/push.js';
import { modelFusion, scoreFusionFor } from '../../dist/src/search/model-fusion.js';
import { dataFolder } from '../harness/cache.mjs';
import { runTrial } from '../harness/trial.mjs';
import { Storage } from '../lorekeep.mjs';
import { loadCatalogModel } from './catalog-model.mjs';
import { collectionsPresent, readCollection } from './collections.mjs';
import { embeddedCollection } from './embedded.mjs';
import { mean, ndcg } from './measures.mjs';

const defaults = { collection: 'cranfield', model: 'lorekeep-mini', tokenizer: 'enhanced' };
const hits = 10;
const columns = [
  { key: 'search', label: 'search' },
  { key: 'embedded', label: 'nDCG@10, embedded', digits: 4 },
  { key: 'scanned', label: 'Postgres, all compared', digits: 4 },
  { key: 'walked', label: 'Postgres, HNSW', digits: 4 },
  { key: 'same', label: 'same ten hits, %', digits: 1 },
];

await runTrial('postgres', defaults, async ({ collection: name, model: modelName, tokenizer }) => {
  if (!collectionsPresent())
    return { leftOut: [{ name: 'postgres', reason: `no collections under ${dataFolder}` }] };
  const database = await PGlite.create({ extensions: { vector: pgvector } });
  const server = new PGLiteSocketServer({ db: database, port: 0, host: '127.0.0.1', maxConnections: 4 });
  await server.start();
  const { model, entry } = await loadCatalogModel(modelName);
  const collection = readCollection(name);
  const prefixes = { query: entry.query_prefix ?? '', document: entry.document_prefix ?? '' };
  const { documentVectors, queryVectors } = await embeddedCollection(model, collection, prefixes);
  const { dimension } = model;
  const storage = await Storage.build(collection.documents, documentVectors, dimension, {
    tokenizer,
    kind: 'flat',
  });
  const hosts = [`127.0.0.1:${server.getServerConn().split(':').at(-1)}`];
  const settings = {
    hosts,
    database: 'postgres',
    user: 'postgres',
    tls: 'off',
    serves: ['public'],
    writes: true,
  };
  const connections = new PostgresConnections({ main: settings });
  const { client, tables } = connections.find({ connection: 'main', table: 'kb' }, 'kb.json');
  const hnsw = { m: 16, efConstruction: 100 };
  const fingerprint = { model: modelName, fingerprint: '' };
  await pushStorage(storage, { client, tables, model: fingerprint, fields: undefined, hnsw, replace: true });
  const facts = await readFacts(client, tables);
  const base = { client, tables, fields: undefined, tokenizer, ef: undefined };
  const scanned = await PostgresEngine.open({ ...base, facts: { ...facts, hnsw: false } });
  const walked = await PostgresEngine.open({ ...base, facts, scannedRows: 0 });
  const scores = { fusion: 'scores', scores: scoreFusionFor(tokenizer, modelFusion(entry.fusion ?? {})) };
  const searches = {
    dense: { mode: 'dense' },
    words: { mode: 'lexical' },
    scores,
    fed: { ...scores, feedback: 0.3 },
  };
  const rows = [];
  for (const [search, options] of Object.entries(searches)) {
    const found = { embedded: [], scanned: [], walked: [] };
    let same = 0;
    for (const [index, { id, text }] of collection.queries.entries()) {
      const vector = queryVectors.subarray(index * dimension, (index + 1) * dimension);
      const own = options.mode === 'lexical' ? options : { ...options, vector };
      const lists = {};
      for (const [engine, searched] of Object.entries({ embedded: storage, scanned, walked })) {
        const { hits: ranked } = await searched.search({ ...own, text, topK: hits });
        lists[engine] = ranked.map((hit) => hit.id);
        found[engine].push(ndcg(lists[engine], collection.gains.get(id)));
      }
      same += lists.embedded.toSorted().join() === lists.scanned.toSorted().join() ? 1 : 0;
    }
    const row = Object.fromEntries(Object.entries(found).map(([engine, all]) => [engine, mean(all)]));
    rows.push({ search, ...row, same: (100 * same) / collection.queries.length });
  }
  for (const engine of [scanned, walked]) await engine.close();
  await connections.close();
  await server.stop();
  await database.close();
  await storage.close();
  await model.close();
  const title = `${name}: ${collection.documents.length} records, ${collection.queries.length} queries, ${modelName}`;
  return { tables: [{ id: 'postgres', title, columns, rows }], data: 'all judged queries' };
});
