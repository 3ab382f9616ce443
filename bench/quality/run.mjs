// Retrieval quality on public collections: nDCG@10 and recall@100 of dense, lexical and hybrid search, through the
// package's own API, exact search. Hybrid uses the catalog's fusion weights of the model.
//
//   node bench/quality/run.mjs [--model NAME] [--catalog FILE] [--only scifact,cisi] [--tokenizer basic|enhanced] [--tune] [--json]
//
// --tune prints what fusion weights gain over words alone on scifact's train queries, and changes nothing.
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fusionFor, modelFusion } from '../../dist/src/search/model-fusion.js';
import { dataFolder } from '../harness/cache.mjs';
import { commandLine, refuseOption } from '../harness/command-line.mjs';
import { EmbeddingModel, Storage } from '../lorekeep.mjs';
import { collectionNames, collectionsPresent, readCollection } from './collections.mjs';
import { embedFirstWindows } from './embedding.mjs';
import { mean, ndcg, recall } from './measures.mjs';
import { measurePairs } from './pairs.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const depth = 100;
const tokenizers = ['basic', 'enhanced'];
const tuningCollection = 'scifact-train';
const tuningHits = 10; // as many as count; the legs are 50 deep then

const { values: options } = commandLine({
  options: {
    model: { type: 'string', default: 'lorekeep-mini' },
    catalog: { type: 'string', default: join(root, 'data', 'models.json') },
    only: { type: 'string' },
    tokenizer: { type: 'string' },
    tune: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

if (!collectionsPresent()) {
  console.log(
    `bench/quality: left out, no collections under ${dataFolder}; LOREKEEP_DATA names their folder`,
  );
  process.exit(0);
}
const entry = catalogEntry();
const fusion = modelFusion(entry.fusion ?? {});
const model = await EmbeddingModel.load(resolve(dirname(options.catalog), entry.variants[0].file), {
  pooling: entry.pooling,
});
const names = options.tune ? [tuningCollection] : (options.only?.split(',') ?? collectionNames);
const rows = [];
const embeddedDocuments = new Map(); // Two collections may share their documents.
for (const name of names) {
  const collection = await embedded(readCollection(name));
  for (const tokenizer of options.tokenizer ? [options.tokenizer] : tokenizers) {
    const storage = await build(collection, tokenizer);
    if (options.tune) await tune(storage, collection, tokenizer);
    else rows.push(...(await measure(storage, collection, tokenizer)));
    await storage.close();
  }
}
if (!options.tune) report(rows, await measurePairs(model, entry));
await model.close();

function catalogEntry() {
  const { models } = JSON.parse(readFileSync(options.catalog, 'utf8'));
  const found = models.find(({ name }) => name === options.model);
  if (!found) refuseOption(`--model ${options.model}: not in ${options.catalog}`);
  return found;
}

async function embedded(collection) {
  const { folder, documents, queries } = collection;
  if (!embeddedDocuments.has(folder)) {
    const prefix = entry.document_prefix ?? '';
    const texts = documents.map(({ text }) => prefix + text);
    embeddedDocuments.set(folder, await embedFirstWindows(model, texts));
  }
  const asked = queries.map(({ text }) => (entry.query_prefix ?? '') + text);
  const { vectors: queryVectors } = await embedFirstWindows(model, asked);
  return { ...collection, ...embeddedDocuments.get(folder), queryVectors };
}

/** "flat": the numbers are the model's, not the graph's. */
function build({ documents, vectors }, tokenizer) {
  return Storage.build(documents, vectors, model.dimension, { tokenizer, kind: 'flat' });
}

async function search(storage, collection, mode, rrf, topK = depth) {
  const scores = [];
  for (const [i, query] of collection.queries.entries()) {
    const own = collection.queryVectors.subarray(i * model.dimension, (i + 1) * model.dimension);
    const vector = mode === 'lexical' ? undefined : own;
    const ranks = mode === 'hybrid' ? { rrf } : {};
    const { hits } = await storage.search({ mode, vector, text: query.text, topK, ...ranks });
    const ranked = hits.map(({ id }) => id);
    const gains = collection.gains.get(query.id);
    scores.push({ ndcg: ndcg(ranked, gains), recall: recall(ranked, gains, depth) });
  }
  return { ndcg: mean(scores.map((s) => s.ndcg)), recall: mean(scores.map((s) => s.recall)) };
}

async function measure(storage, collection, tokenizer) {
  const out = [];
  for (const mode of ['dense', 'lexical', 'hybrid']) {
    if (mode === 'dense' && tokenizer !== (options.tokenizer ?? tokenizers[0])) continue;
    const scores = await search(storage, collection, mode, fusionFor(tokenizer, fusion));
    out.push({
      collection: collection.name,
      mode,
      tokenizer: mode === 'dense' ? '-' : tokenizer,
      ...scores,
      cut: collection.cut,
    });
  }
  return out;
}

async function tune(storage, collection, tokenizer) {
  const lexical = await search(storage, collection, 'lexical');
  console.log(`${tokenizer}: lexical alone ${lexical.ndcg.toFixed(4)}`);
  for (const k of [2, 3, 4, 5, 6, 8, 10, 20, 60]) {
    const line = [];
    for (const dense of [0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.8, 1]) {
      const found = await search(
        storage,
        collection,
        'hybrid',
        { k, weights: { dense, lexical: 1 } },
        tuningHits,
      );
      line.push(`${dense}: ${(found.ndcg - lexical.ndcg).toFixed(4)}`);
    }
    console.log(`  k ${k}  ${line.join('  ')}`);
  }
}

function report(found, pairs) {
  if (options.json) {
    console.log(JSON.stringify({ model: options.model, collections: found, pairs }, undefined, 2));
    return;
  }
  const cells = (list) => `| ${list.join(' | ')} |`;
  console.log(cells(['collection', 'mode', 'tokenizer', 'nDCG@10', `recall@${depth}`]));
  console.log(cells(['---', '---', '---', '---', '---']));
  for (const row of found) {
    console.log(cells([row.collection, row.mode, row.tokenizer, row.ndcg.toFixed(3), row.recall.toFixed(3)]));
  }
  console.log(`\n${cells(['pairs', 'count', 'first', 'in the first 5', 'reciprocal rank'])}`);
  console.log(cells(['---', '---', '---', '---', '---']));
  for (const { kind, count, first, five, reciprocal } of pairs) {
    console.log(cells([kind, count, first.toFixed(3), five.toFixed(3), reciprocal.toFixed(3)]));
  }
}
