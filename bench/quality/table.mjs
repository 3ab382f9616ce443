import { bestDefaults } from '../../dist/src/knowledge/search-defaults.js';
import { fusionFor, modelFusion, scoreFusionFor } from '../../dist/src/search/model-fusion.js';
import { dataFolder } from '../harness/cache.mjs';
import { runTrial } from '../harness/trial.mjs';
import { Storage } from '../lorekeep.mjs';
import { loadCatalogModel } from './catalog-model.mjs';
import { collectionsPresent, readCollection } from './collections.mjs';
import { interval } from './confidence.mjs';
import { embeddedCollection } from './embedded.mjs';
import { mean, ndcg, recall } from './measures.mjs';

const depth = 100;
const defaults = { collections: 'scifact,cranfield,cisi,xquad-en', models: 'all-MiniLM-L6-v2,lorekeep-mini' };
const peers = { MiniSearch: 'minisearch', 'LanceDB full text': 'lancedb' };
const baseline = 'BM25, enhanced';
const columns = [
  { key: 'name', label: 'search' },
  { key: 'ndcg', label: 'nDCG@10', digits: 3 },
  { key: 'ndcgRange', label: '95 %' },
  { key: 'gain', label: `minus ${baseline}` },
  { key: 'gainRange', label: '95 %, paired' },
  { key: 'recall', label: `recall@${depth}`, digits: 3 },
  { key: 'recallRange', label: '95 %' },
];

await runTrial('quality', defaults, async ({ collections, models }) => {
  if (!collectionsPresent())
    return { leftOut: [{ name: 'quality', reason: `no collections under ${dataFolder}` }] };
  const leftOut = [];
  const failed = [];
  const tables = [];
  for (const name of collections.split(',')) {
    console.log(name);
    const collection = readCollection(name);
    const results = new Map();
    await measureLexical(collection, results);
    for (const model of models.split(',')) await measureModel(collection, model, results);
    for (const [peer, module] of Object.entries(peers))
      await measurePeer(collection, peer, module, { results, leftOut, failed });
    tables.push(tableOf(collection, results));
  }
  const once = (list) => [...new Map(list.map((one) => [one.name, one])).values()];
  return {
    tables,
    leftOut: once(leftOut),
    failed: once(failed),
    data: 'the collections of bench/quality, all queries',
  };
});

async function measureLexical(collection, results) {
  const { documents } = collection;
  // The lexical leg needs no vectors, a storage does.
  const vectors = new Float32Array(documents.length).fill(1);
  for (const tokenizer of ['basic', 'enhanced']) {
    const storage = await Storage.build(documents, vectors, 1, { tokenizer, kind: 'flat' });
    await rank(collection, results, `BM25, ${tokenizer}`, ({ text }) =>
      found(storage, { mode: 'lexical', text }),
    );
    await storage.close();
  }
}

/** Dense search, and hybrid search with the defaults of createStorage(), without feedback, and by ranks with the catalog's weights. */
async function measureModel(collection, name, results) {
  const { entry, model } = await loadCatalogModel(name);
  const prefixes = { query: entry.query_prefix ?? '', document: entry.document_prefix ?? '' };
  const { documentVectors, queryVectors } = await embeddedCollection(model, collection, prefixes);
  const { dimension } = model;
  await model.close();
  const vector = (index) => queryVectors.subarray(index * dimension, (index + 1) * dimension);
  const tokenizer = 'enhanced';
  const fusion = modelFusion(entry.fusion ?? {});
  const storage = await Storage.build(collection.documents, documentVectors, dimension, {
    tokenizer,
    kind: 'flat',
  });
  const scores = scoreFusionFor(tokenizer, fusion);
  const searches = {
    [`${name}, dense`]: { mode: 'dense' },
    [`${name}, hybrid`]: { scores, feedback: bestDefaults.feedback },
    [`${name}, hybrid, no feedback`]: { scores },
    [`${name}, hybrid, ranks`]: { fusion: 'rrf', rrf: fusionFor(tokenizer, fusion) },
  };
  for (const [label, options] of Object.entries(searches)) {
    await rank(collection, results, label, ({ text }, index) =>
      found(storage, { ...options, text, vector: vector(index) }),
    );
  }
  await storage.close();
}

async function measurePeer(collection, name, module, { results, leftOut, failed }) {
  let build;
  try {
    ({ [module]: build } = await import(`../text/engines/${module}.mjs`));
  } catch (error) {
    leftOut.push({ name, reason: String(error.message).split('\n')[0] });
    return;
  }
  try {
    const { documents } = collection;
    const engine = await build(documents.map(({ text }) => text));
    await rank(collection, results, name, async ({ text }) =>
      (await engine.search(text, depth)).map((row) => documents[row].id),
    );
    await engine.close();
  } catch (error) {
    failed.push({ name, reason: String(error.message).split('\n')[0] });
  }
}

async function found(storage, options) {
  const { hits } = await storage.search({ ...options, topK: depth });
  return hits.map(({ id }) => id);
}

/** Keeps per query: nDCG@10 and recall. `search` gives the ids for a query, best first. */
async function rank({ queries, gains }, results, name, search) {
  const scores = { ndcg: [], recall: [] };
  for (const [index, query] of queries.entries()) {
    const ranked = await search(query, index);
    scores.ndcg.push(ndcg(ranked, gains.get(query.id)));
    scores.recall.push(recall(ranked, gains.get(query.id), depth));
  }
  results.set(name, scores);
}

function tableOf({ name, documents, queries }, results) {
  const base = results.get(baseline).ndcg;
  const rows = [...results].map(([label, scores]) => {
    const gains = scores.ndcg.map((value, query) => value - base[query]);
    const isBase = label === baseline;
    return {
      name: label,
      ndcg: mean(scores.ndcg),
      ndcgRange: range(scores.ndcg),
      gain: isBase ? undefined : signed(mean(gains)),
      gainRange: isBase ? undefined : range(gains, signed),
      recall: mean(scores.recall),
      recallRange: range(scores.recall),
    };
  });
  const title = `Retrieval quality, ${name}: ${documents.length} documents, ${queries.length} queries`;
  return { id: `quality-${name}`, title, columns, rows };
}

function signed(value) {
  return `${value < 0 ? '' : '+'}${value.toFixed(3)}`;
}

function range(values, shown = (value) => value.toFixed(3)) {
  return interval(values).map(shown).join(' to ');
}
