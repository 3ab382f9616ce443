// Dumps both legs of hybrid searches with all scores, so that fusion formulas can be tried in seconds.
//
//   node tools/fusion/dump.mjs --model FILE --out FOLDER [--only NAME,NAME] [--tokenizer enhanced] [--ir FOLDER]
//     [--queries N] [--most DOCUMENTS] [--query-prefix TEXT] [--document-prefix TEXT]
//
// A collection becomes FOLDER/NAME.json: for each query its words with their document frequencies, the gains of its judged
// documents, and the candidates, which are the first `depth` of each leg: row, distance, BM25 score, rank in each leg (0: not
// found), gain. --ir reads collections of another folder in the layout of LOREKEEP_DATA/ir. A file `unanswerable.jsonl.gz`
// beside the queries has questions without an answer in the collection: their gains are empty. Each query has its kind: judged,
// unanswerable, or absent: asked of a collection of other subjects (absent-subjects.mjs), or without any known word. The
// embeddings of documents and queries are in FOLDER/NAME.documents.f32 and FOLDER/NAME.queries.f32, row by row.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { dataFolder } from '../../bench/harness/cache.mjs';
import { EmbeddingModel, Storage, tokenize } from '../../bench/lorekeep.mjs';
import { collectionNames, readCollection } from '../../bench/quality/collections.mjs';
import { embedFirstWindows } from '../../bench/quality/embedding.mjs';
import { askedInstead, nonsense } from './absent-subjects.mjs';
import { readTrainingSet, trainingSetNames } from './training-sets.mjs';

const depth = 100;
const blockOfDocuments = 256;
const sampledRows = 64;
const absentQueries = 60;

const { values: options } = parseArgs({
  options: {
    model: { type: 'string' },
    out: { type: 'string' },
    only: { type: 'string' },
    tokenizer: { type: 'string', default: 'enhanced,basic' },
    ir: { type: 'string' },
    most: { type: 'string' },
    'query-prefix': { type: 'string', default: '' },
    'document-prefix': { type: 'string', default: '' },
    queries: { type: 'string', default: 'Infinity' },
  },
});

const model = await EmbeddingModel.load(options.model, { pooling: 'mean' });
mkdirSync(join(options.out, 'vectors'), { recursive: true });
for (const name of options.only?.split(',') ?? [...trainingSetNames, ...collectionNames]) {
  const collection = await read(name);
  const vectors = await documentVectors(collection);
  const asked = [
    ...evenly(collection.queries, Number(options.queries)),
    ...unanswerable(name).map((query) => ({ ...query, kind: 'unanswerable' })),
    ...(await aboutAbsentSubjects(name)),
  ];
  const { vectors: queryVectors } = await embedFirstWindows(
    model,
    asked.map(({ text }) => options['query-prefix'] + text),
  );
  writeVectors(`${name}.documents`, vectors);
  writeVectors(`${name}.queries`, queryVectors);
  for (const tokenizer of options.tokenizer.split(',')) {
    const storage = await Storage.build(collection.documents, vectors, model.dimension, {
      tokenizer,
      kind: 'flat',
    });
    const queries = [];
    for (const [i, query] of asked.entries()) {
      const vector = queryVectors.subarray(i * model.dimension, (i + 1) * model.dimension);
      const { kind = 'judged' } = query;
      const gains = (kind === 'judged' && collection.gains.get(query.id)) || new Map();
      const found = await candidates(storage, query, vector, gains);
      queries.push({ ...found, kind, background: background(vectors, vector) });
    }
    const { documents, queries: all } = collection;
    const { dimension } = model;
    const dump = { name, tokenizer, dimension, documents: documents.length, judged: all.length, queries };
    writeFileSync(join(options.out, `${name}.${tokenizer}.json`), JSON.stringify(dump));
    await storage.close();
  }
  console.error(`${name}: ${collection.documents.length} documents, ${asked.length} queries`);
}
await model.close();

function writeVectors(name, { buffer, byteOffset, byteLength }) {
  writeFileSync(join(options.out, `${name}.f32`), new Uint8Array(buffer, byteOffset, byteLength));
}

async function read(name) {
  if (trainingSetNames.includes(name)) return await readTrainingSet(name);
  return reduced(readCollection(name, isElsewhere(name) ? options.ir : undefined));
}

/** Whether the folder of --ir has the collection. */
function isElsewhere(name) {
  return options.ir !== undefined && existsSync(join(options.ir, name, 'corpus.jsonl.gz'));
}

async function aboutAbsentSubjects(name) {
  const other = askedInstead[name];
  const present =
    other !== undefined &&
    (trainingSetNames.includes(other) || collectionNames.includes(other) || isElsewhere(other));
  const texts = [
    ...(present ? evenly((await read(other)).queries, absentQueries).map(({ text }) => text) : []),
    ...nonsense,
  ];
  return texts.map((text, i) => ({ id: `absent ${i}`, text, kind: 'absent' }));
}

/** At most `count` evenly spaced members of a list. */
function evenly(list, count) {
  const every = Math.max(1, list.length / count);
  return Array.from({ length: Math.min(list.length, count) }, (_, i) => list[Math.floor(i * every)]);
}

/** Keeps the judged documents of all queries of the folder, and the first of the others, up to --most. */
function reduced(collection) {
  const most = Number(options.most ?? Number.POSITIVE_INFINITY);
  const judged = judgedDocuments(collection.folder);
  const others = collection.documents.filter(({ id }) => !judged.has(id));
  const kept = new Set(others.slice(0, Math.max(0, most - judged.size)));
  return {
    ...collection,
    documents: collection.documents.filter((one) => judged.has(one.id) || kept.has(one)),
  };
}

function judgedDocuments(folder) {
  const lines = gunzipSync(
    readFileSync(join(isElsewhere(folder) ? options.ir : join(dataFolder, 'ir'), folder, 'qrels.tsv.gz')),
  )
    .toString('utf8')
    .trimEnd()
    .split('\n');
  return new Set(lines.slice(1).map((line) => line.split('\t')[1]));
}

/** Embeds the documents block by block; blocks are kept in the output folder, so that an interrupted run continues. */
async function documentVectors({ folder, documents }) {
  const vectors = new Float32Array(documents.length * model.dimension);
  for (let begin = 0; begin < documents.length; begin += blockOfDocuments) {
    const some = documents.slice(begin, begin + blockOfDocuments);
    const texts = some.map(({ text }) => options['document-prefix'] + text);
    const digest = createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16);
    const file = join(options.out, 'vectors', `${folder.replace('/', '-')}.${digest}.f32`);
    if (!existsSync(file)) writeFileSync(file, (await embedFirstWindows(model, texts)).vectors);
    const bytes = new Uint8Array(readFileSync(file));
    vectors.set(new Float32Array(bytes.buffer), begin * model.dimension);
  }
  return vectors;
}

function unanswerable(name) {
  const file = join(options.ir ?? '', name, 'unanswerable.jsonl.gz');
  if (options.ir === undefined || !existsSync(file)) return [];
  const lines = gunzipSync(readFileSync(file)).toString('utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}

/** The cosines of a query and evenly spaced rows, as native/store samples them. */
function background(rows, query) {
  const width = model.dimension;
  const count = rows.length / width;
  const sampled = Math.min(count, sampledRows);
  return Array.from({ length: sampled }, (_, i) => {
    const row = Math.floor((i * count) / sampled);
    let sum = 0;
    for (let at = 0; at < width; at++) sum += rows[row * width + at] * query[at];
    return sum;
  });
}

async function candidates(storage, { id, text }, vector, gains) {
  const { hits } = await storage.search({ mode: 'hybrid', vector, text, topK: 1000 });
  const words = new Map();
  for (const word of tokenize(text, storage.tokenizer)) words.set(word, (words.get(word) ?? 0) + 1);
  return {
    id,
    text,
    words: [...words].map(([word, count]) => [storage.documentFrequency(word), count]),
    gains: [...gains.values()],
    candidates: hits
      .filter(({ denseRank = 1001, lexicalRank = 1001 }) => denseRank <= depth || lexicalRank <= depth)
      .map((hit) => [
        hit.ordinal,
        hit.distance,
        hit.bm25Score,
        hit.denseRank ?? 0,
        hit.lexicalRank ?? 0,
        gains.get(hit.id) ?? 0,
      ]),
  };
}
