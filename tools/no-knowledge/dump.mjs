// Dumps what tells whether a storage answers a question: scores of the first hits of questions that it answers, of questions
// about other subjects, of the same questions in other words, of small talk and of nonsense. fit.py learns from it.
//
//   node tools/no-knowledge/dump.mjs --model NAME --out FILE --wordnet FOLDER [--only COLLECTION,COLLECTION]
//
// A line of the file is one search: model, collection, size of the storage, mode, kind of the question, floor of the cosines,
// and of each hit its relevance, cosine (null in lexical mode), share of the question's weighted words, and whether it was
// judged to answer.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../bench/harness/cache.mjs';
import { EmbeddingModel, Storage } from '../../bench/lorekeep.mjs';
import { collectionNames, readCollection } from '../../bench/quality/collections.mjs';
import { embedFirstWindows } from '../../bench/quality/embedding.mjs';
import { SentenceScorer } from '../../dist/src/agents/nodes/quote/scorer.js';
import { nonsense } from '../fusion/absent-subjects.mjs';
import { readTrainingSet } from '../fusion/training-sets.mjs';
import { otherWords } from './other-words.mjs';
import { otherSubjects, smallTalk } from './questions.mjs';

/** Storages by size: how many of each, and questions of each kind to one. */
const storages = [
  { size: 10, most: 8, questions: 10 },
  { size: 40, most: 4, questions: 20 },
  { size: 240, most: 1, questions: 60 },
  { size: 1200, most: 1, questions: 60 },
];
const modes = ['hybrid', 'dense', 'lexical'];
const topK = 5;

const { values: options } = parseArgs({
  options: {
    model: { type: 'string' },
    out: { type: 'string' },
    wordnet: { type: 'string', default: '/usr/share/wordnet' },
    only: { type: 'string' },
  },
});
const model = await EmbeddingModel.load(join(root, 'data', 'models', `${options.model}.gguf`), {
  pooling: 'mean',
});
const reworded = otherWords(options.wordnet);
const collections = new Map();
const vectors = new Map();
const out = openSync(options.out, 'w');
for (const name of options.only?.split(',') ?? Object.keys(otherSubjects)) await dumpCollection(name);
closeSync(out);
await model.close();

async function read(name) {
  if (!collections.has(name)) {
    const isPublic = collectionNames.includes(name);
    collections.set(name, isPublic ? readCollection(name) : await readTrainingSet(name));
  }
  return collections.get(name);
}

async function dumpCollection(name) {
  const collection = await read(name);
  const documents = judgedFirst(collection).slice(0, storages.at(-1).size);
  const embedded = await embed(documents.map(({ text }) => text));
  const strange = (await Promise.all(otherSubjects[name].map(read))).map(({ queries }) => queries);
  for (const { size, most, questions } of storages) {
    const count = Math.min(most, Math.max(1, Math.floor(documents.length / size)));
    for (let at = 0; at < count; at++) {
      const part = documents.slice(at * size, (at + 1) * size);
      if (part.length < size / 2) continue;
      const rows = embedded.subarray(
        at * size * model.dimension,
        (at * size + part.length) * model.dimension,
      );
      const storage = await Storage.build(part, rows, model.dimension, {
        tokenizer: 'enhanced',
        kind: 'flat',
      });
      const asked = questionsTo(collection, part, strange, questions, at);
      await embedQueries(asked.map(({ text }) => text));
      for (const question of asked) {
        for (const mode of modes)
          writeSync(
            out,
            `${JSON.stringify({ collection: name, size: part.length, mode, ...(await answer(storage, question, mode)) })}\n`,
          );
      }
      await storage.close();
    }
  }
  console.error(`${options.model}: ${name}`);
}

/** Judged documents in the order of the file, then the others. */
function judgedFirst({ documents, gains }) {
  const judged = new Set([...gains.values()].flatMap((of) => [...of.keys()]));
  return [
    ...documents.filter(({ id }) => judged.has(id)),
    ...documents.filter(({ id }) => !judged.has(id)),
  ].filter(({ text }) => text.trim() !== '');
}

function questionsTo({ queries, gains }, part, strange, count, offset) {
  const ids = new Set(part.map(({ id }) => id));
  const answersTo = ({ id }) =>
    new Set(
      [...(gains.get(id) ?? [])]
        .filter(([document, gain]) => gain > 0 && ids.has(document))
        .map(([document]) => document),
    );
  const own = spread(
    queries.filter((query) => answersTo(query).size > 0),
    count,
    offset,
  );
  const other = strange.flatMap((one) => spread(one, Math.ceil(count / strange.length), offset));
  const question = (kind, answers) => (query) => ({
    kind,
    text: query.text,
    answers: answers?.(query) ?? new Set(),
  });
  const inOtherWords = (query) => ({ ...query, text: reworded(query.text) });
  return [
    ...own.map(question('answered', answersTo)),
    ...own.map(inOtherWords).map(question('answered, other words', answersTo)),
    ...other.map(question('absent')),
    ...other.map(inOtherWords).map(question('absent, other words')),
    ...spread(
      smallTalk.map((text) => ({ text })),
      Math.ceil(count / 4),
      offset,
    ).map(question('small talk')),
    ...spread(
      nonsense.map((text) => ({ text })),
      3,
      offset,
    ).map(question('nonsense')),
  ];
}

/** Evenly spaced members of a list, others for each offset. */
function spread(list, count, offset) {
  const every = Math.max(1, Math.floor(list.length / count));
  const start = (offset * 7) % every;
  return list.filter((_, index) => index % every === start).slice(0, count);
}

async function answer(storage, { kind, text, answers }, mode) {
  const vector = mode === 'lexical' ? undefined : vectors.get(text);
  const request = { mode, text, vector, topK, ...(mode === 'hybrid' && { fusion: 'scores' }) };
  const { hits, cosineFloor } = await storage.searchInSlices(request, async () => {});
  const scorer = new SentenceScorer({ query: text, storage });
  return {
    kind,
    text,
    floor: cosineFloor ?? null,
    hits: hits.map(({ id, text: found, relevance, distance }) => [
      relevance,
      distance === undefined ? null : 1 - distance,
      scorer.score(found),
      answers.has(id) ? 1 : 0,
    ]),
  };
}

async function embed(texts) {
  return (await embedFirstWindows(model, texts)).vectors;
}

async function embedQueries(texts) {
  const missing = [...new Set(texts)].filter((text) => !vectors.has(text));
  if (missing.length === 0) return;
  const found = await embed(missing);
  for (const [i, text] of missing.entries())
    vectors.set(text, found.slice(i * model.dimension, (i + 1) * model.dimension));
}
