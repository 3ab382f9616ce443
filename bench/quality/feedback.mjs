// What feedback adds to hybrid search: nDCG@10 of words alone, of both fusions, and of both with feedback, through the package's own
// API, exact search, with paired 95 % intervals of the bootstrap over queries. Title and text are one document, cut at the model's
// context. The fusion is the catalog's. tools/fusion/feedback.py tries other
// numbers of hits and weights.
//
//   node bench/quality/feedback.mjs [--collections scifact,cisi,xquad-de] [--models all-MiniLM-L6-v2,FILE.gguf] [--feedback 0.3]
//                                   [--tokenizer multilingual] [--ir FOLDER]
//
// --ir reads the collections of another folder, in the layout of LOREKEEP_DATA/ir. The interval of a mean resamples the queries of each
// collection.
// A model that is a file, such as that of multilingual-e5-small, needs its catalog entry in data/models.json: the entry whose name its
// file name begins with. --tokenizer: by default `enhanced`, and `multilingual` for such a model.
import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fusionFor, modelFusion, scoreFusionFor } from '../../dist/src/search/model-fusion.js';
import { dataFolder, root } from '../harness/cache.mjs';
import { OptionError } from '../harness/command-line.mjs';
import { runTrial } from '../harness/trial.mjs';
import { EmbeddingModel, Storage } from '../lorekeep.mjs';
import { collectionsPresent, readCollection } from './collections.mjs';
import { interval, intervalOfMeans } from './confidence.mjs';
import { embeddedCollection } from './embedded.mjs';
import { mean, ndcg } from './measures.mjs';

const catalogFile = join(root, 'data', 'models.json');
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
    const { model, entry } = await load(name);
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

async function load(name) {
  const { models } = JSON.parse(readFileSync(catalogFile, 'utf8'));
  const isFile = name.endsWith('.gguf');
  const entry = models.find((one) => (isFile ? basename(name).startsWith(one.name) : one.name === name));
  if (entry === undefined) throw new OptionError(`--models ${name}: not in ${catalogFile}`);
  const file = isFile ? resolve(name) : resolve(dirname(catalogFile), entry.variants[0].file);
  return { entry, model: await EmbeddingModel.load(file, { pooling: entry.pooling }) };
}

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
