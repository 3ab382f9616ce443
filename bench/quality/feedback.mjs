import { resolve } from 'node:path';
import { fusionFor, modelFusion, scoreFusionFor } from '../../dist/src/search/model-fusion.js';
import { dataFolder } from '../harness/cache.mjs';
import { runTrial } from '../harness/trial.mjs';
import { Storage } from '../lorekeep.mjs';
import { loadCatalogModel } from './catalog-model.mjs';
import { collectionsPresent, readCollection } from './collections.mjs';
import { interval, intervalOfMeans } from './confidence.mjs';
import { embeddedCollection } from './embedded.mjs';
import { mean, ndcg } from './measures.mjs';

const defaults = {
  collections: 'scifact,cranfield,cisi,xquad-en',
  models: 'all-MiniLM-L6-v2,lorekeep-mini',
  tokenizer: '',
  feedback: 0.3,
  ir: '',
};
const hits = 10;
const columns = [
  { key: 'name', label: 'collection' },
  { key: 'model', label: 'model' },
  { key: 'queries', label: 'queries' },
  { key: 'words', label: 'words', digits: 4 },
  { key: 'ranks', label: 'ranks', digits: 4 },
  { key: 'ranksFed', label: 'ranks, feedback', digits: 4 },
  { key: 'scores', label: 'scores', digits: 4 },
  { key: 'scoresFed', label: 'scores, feedback', digits: 4 },
  { key: 'overScores', label: 'scores, feedback - scores' },
  { key: 'overRanks', label: 'scores, feedback - ranks' },
];

await runTrial('feedback', defaults, async ({ collections, models, feedback, tokenizer, ir }) => {
  if (!ir && !collectionsPresent())
    return { leftOut: [{ name: 'feedback', reason: `no collections under ${dataFolder}` }] };
  const rows = [];
  for (const name of models.split(',')) {
    const { model, entry } = await loadCatalogModel(name);
    const used = tokenizer || (name.endsWith('.gguf') ? 'multilingual' : 'enhanced');
    for (const collection of collections.split(',')) {
      console.log(`${entry.name}, ${collection}`);
      rows.push(
        await measure(model, entry, readCollection(collection, ir ? resolve(ir) : undefined), {
          feedback,
          tokenizer: used,
        }),
      );
    }
    await model.close();
  }
  const title = `nDCG@10 of hybrid search with feedback ${feedback}; 95 % intervals`;
  return {
    tables: [{ id: 'feedback', title, columns, rows: [...rows, ...means(rows)] }],
    data: 'all judged queries',
  };
});

async function measure(model, entry, collection, { feedback, tokenizer }) {
  const prefixes = { query: entry.query_prefix ?? '', document: entry.document_prefix ?? '' };
  const { documentVectors, queryVectors } = await embeddedCollection(model, collection, prefixes);
  const { dimension } = model;
  const storage = await Storage.build(collection.documents, documentVectors, dimension, {
    tokenizer,
    kind: 'flat',
  });
  const fusion = modelFusion(entry.fusion ?? {});
  const ranks = { fusion: 'rrf', rrf: fusionFor(tokenizer, fusion) };
  const scores = { fusion: 'scores', scores: scoreFusionFor(tokenizer, fusion) };
  const searches = {
    words: { mode: 'lexical' },
    ranks,
    ranksFed: { ...ranks, feedback },
    scores,
    scoresFed: { ...scores, feedback },
  };
  const found = Object.fromEntries(Object.keys(searches).map((name) => [name, []]));
  for (const [index, { id, text }] of collection.queries.entries()) {
    const vector = queryVectors.subarray(index * dimension, (index + 1) * dimension);
    for (const [name, options] of Object.entries(searches)) {
      const own = options.mode === 'lexical' ? options : { ...options, vector };
      const { hits: ranked } = await storage.search({ ...own, text, topK: hits });
      found[name].push(
        ndcg(
          ranked.map((hit) => hit.id),
          collection.gains.get(id),
        ),
      );
    }
  }
  await storage.close();
  const minus = (other) => found.scoresFed.map((value, query) => value - found[other][query]);
  return {
    name: collection.name,
    model: entry.name,
    queries: collection.queries.length,
    ...Object.fromEntries(Object.entries(found).map(([name, values]) => [name, mean(values)])),
    overScores: difference(minus('scores')),
    overRanks: difference(minus('ranks')),
    gains: { scores: minus('scores'), ranks: minus('ranks') },
  };
}

/** A row for each model: the means over its collections. */
function means(rows) {
  return [...new Set(rows.map(({ model }) => model))].map((model) => {
    const own = rows.filter((row) => row.model === model);
    const of = (key) => mean(own.map((row) => row[key]));
    return {
      name: 'mean',
      model,
      queries: own.reduce((sum, { queries }) => sum + queries, 0),
      ...Object.fromEntries(
        ['words', 'ranks', 'ranksFed', 'scores', 'scoresFed'].map((key) => [key, of(key)]),
      ),
      overScores: meanDifference(own.map(({ gains }) => gains.scores)),
      overRanks: meanDifference(own.map(({ gains }) => gains.ranks)),
    };
  });
}

function difference(values) {
  return spelled(mean(values), interval(values));
}

function meanDifference(collections) {
  return spelled(mean(collections.map(mean)), intervalOfMeans(collections));
}

function spelled(value, bounds) {
  return `${signed(value)} (${bounds.map(signed).join(' to ')})`;
}

function signed(value) {
  return `${value < 0 ? '' : '+'}${value.toFixed(4)}`;
}
