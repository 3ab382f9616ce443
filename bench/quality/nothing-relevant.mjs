import { resolve } from 'node:path';
import { learnLeastRelevance } from '../../dist/src/knowledge/nonsense/least-relevance.js';
import { modelFusion, scoreFusionFor } from '../../dist/src/search/model-fusion.js';
import { dataFolder } from '../harness/cache.mjs';
import { quantile } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { Storage } from '../lorekeep.mjs';
import { loadCatalogModel } from './catalog-model.mjs';
import { collectionsPresent, readCollection } from './collections.mjs';
import { embeddedCollection } from './embedded.mjs';
import { embedFirstWindows } from './embedding.mjs';
import { alphabetOf, nonsense, nonsenseKinds, otherWords } from './nonsense-queries.mjs';

const tokenizer = 'multilingual';
const [hits, mostStorages, sampled] = [5, 20, 300];
const modes = ['dense', 'lexical', 'hybrid'];
const defaults = {
  collections: 'scifact,cisi,xquad-en',
  models: 'all-MiniLM-L6-v2',
  records: '0',
  part: '',
  absent: '',
  seed: 2,
  nonsense: 40,
  ir: '',
};
const columns = [
  { key: 'name', label: 'collection' },
  { key: 'model', label: 'model' },
  { key: 'records', label: 'records' },
  { key: 'answers', label: 'answers' },
  { key: 'lost', label: 'lost, %', digits: 2 },
  { key: 'share', label: '1 %', digits: 4 },
  { key: 'found', label: 'nonsense with hits, %', digits: 1 },
  ...nonsenseKinds.map((kind) => ({ key: kind, label: kind, digits: 0 })),
  { key: 'absent', label: 'absent subjects with hits, %', digits: 0 },
];

await runTrial('nothing-relevant', defaults, async (options) => {
  if (!options.ir && !collectionsPresent())
    return { leftOut: [{ name: 'nothing-relevant', reason: `no collections under ${dataFolder}` }] };
  const words = await otherWords();
  const rows = [];
  for (const name of options.models.split(',')) {
    const asked = { ...(await loadCatalogModel(name)), words, ...options };
    for (const collection of options.collections.split(',')) {
      console.log(`${asked.entry.name}, ${collection}`);
      rows.push(...(await measure(asked, collection)));
    }
    await asked.model.close();
  }
  const tables = modes.map((mode) => ({
    id: `nothing-relevant-${mode}`,
    title: `${mode} search`,
    columns,
    rows: rows.filter((row) => row.mode === mode),
  }));
  return { tables, data: `nonsense drawn with seed ${options.seed}` };
});

async function measure({ model, entry, words, seed, ...options }, name) {
  const collection = readCollection(name, options.ir ? resolve(options.ir) : undefined);
  const { documents } = collection;
  const prefixes = { query: entry.query_prefix ?? '', document: entry.document_prefix ?? '' };
  const embedded = await embeddedCollection(model, collection, prefixes);
  const row = (vectors, index) => vectors.subarray(index * model.dimension, (index + 1) * model.dimension);
  const questions = collection.queries
    .map(({ id, text }, i) => ({
      text,
      gains: collection.gains.get(id),
      vector: row(embedded.queryVectors, i),
    }))
    .filter((_, i) => options.part === '' || (i % 2 === 1) === (options.part === 'odd'));
  const alphabet = alphabetOf(documents.slice(0, sampled).map(({ text }) => text));
  const scores = scoreFusionFor(tokenizer, modelFusion(entry.fusion ?? {}));
  const rows = [];
  for (const size of options.records.split(',').map((one) => Number(one) || documents.length)) {
    const count = Math.min(mostStorages, Math.floor(documents.length / size));
    const found = [];
    const drawn = nonsense(seed, count === 1 ? options.nonsense : options.nonsense / 4, { alphabet, words });
    const none = await withVectors(model, prefixes.query, [...drawn, ...absentQuestions(options.absent)]);
    for (let at = 0; at < count; at++) {
      const first = at * Math.floor(documents.length / count);
      const part = documents.slice(first, first + size);
      if (size < sampled && part.some(({ text }) => text.trim() === '')) continue;
      const vectors = embedded.documentVectors.slice(
        first * model.dimension,
        (first + size) * model.dimension,
      );
      const storage = await Storage.build(part, vectors, model.dimension, { tokenizer, kind: 'flat' });
      const ids = new Set(part.map(({ id }) => id));
      const own = questions.filter(({ gains }) => [...gains].some(([id, gain]) => gain > 0 && ids.has(id)));
      const { min_best, min_by_leg } = await learnLeastRelevance(base(storage, part, { model, prefixes }));
      const least = {
        dense: { minBest: min_best.dense },
        lexical: { minBest: min_best.lexical },
        hybrid: { minByLeg: min_by_leg },
      };
      for (const mode of modes)
        for (const query of [...own, ...none])
          found.push({ mode, ...(await best(storage, query, { mode, scores, least: least[mode] })) });
      await storage.close();
    }
    for (const mode of modes)
      rows.push({
        ...{ name, model: entry.name, records: size, mode },
        ...shares(found.filter((one) => one.mode === mode)),
      });
  }
  return rows;
}

/** The storage as a knowledge base from which limits are learned. */
function base(storage, records, { model, prefixes }) {
  return {
    defaults: {},
    list: async () => records.slice(0, sampled),
    model: { model, queryPrefix: prefixes.query },
    search: ({ text, mode, vector }) => storage.search({ mode, text, vector, topK: hits }),
  };
}

function absentQuestions(names) {
  return names
    .split(',')
    .filter(Boolean)
    .flatMap((name) => readCollection(name).queries.slice(0, 60))
    .map(({ text }) => ({ kind: 'absent', text }));
}

async function withVectors(model, prefix, queries) {
  const { vectors } = await embedFirstWindows(
    model,
    queries.map(({ text }) => prefix + text),
  );
  const { dimension } = model;
  return queries.map((query, i) => ({
    ...query,
    vector: vectors.subarray(i * dimension, (i + 1) * dimension),
  }));
}

/** The relevance of the best hit, whether a hit answers, and whether a search with the least relevance has hits. */
async function best(storage, { kind, text, vector, gains }, { mode, scores, least }) {
  const how = mode === 'lexical' ? {} : mode === 'dense' ? { vector } : { vector, scores };
  const request = { mode, ...how, text, topK: hits };
  const found = (await storage.search(request)).hits;
  return {
    kind,
    relevance: Math.max(0, ...found.map((hit) => hit.relevance)),
    isFound: (await storage.search({ ...request, ...least })).hits.length > 0,
    answered: gains !== undefined && found.some(({ id }) => (gains.get(id) ?? 0) > 0),
  };
}

function shares(found) {
  const answers = found.filter(({ answered }) => answered);
  const percent = (list) => (100 * list.filter(({ isFound }) => isFound).length) / list.length;
  const of = (kind) => percent(found.filter((one) => one.kind === kind));
  return {
    answers: answers.length,
    lost: 100 - percent(answers),
    share: quantile(
      answers.map(({ relevance }) => relevance),
      0.01,
    ),
    found: percent(found.filter(({ kind }) => nonsenseKinds.includes(kind))),
    ...Object.fromEntries(nonsenseKinds.map((kind) => [kind, of(kind)])),
    ...(found.some(({ kind }) => kind === 'absent') && { absent: of('absent') }),
  };
}
