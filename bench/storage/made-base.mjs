// A knowledge base of made-up records: vectors around cluster centres of random norms, as text embeddings lie; texts of 60 words
// drawn from 50,000 by a Zipf law; two metadata fields. The model is a stand-in that gives made vectors: no text is embedded.
import { createWriteStream, existsSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { indexFingerprint } from '../../dist/src/knowledge/model.js';
import { Random } from '../harness/numbers.mjs';
import { EmbeddingModel, Records, TextIndex, VectorIndex } from '../lorekeep.mjs';

export const dimension = 384;
const wordsPerText = 60;
const vocabulary = 50_000;
const centres = 1000;
/** How far rows lie from their centre, against the spread of the centres. */
const spread = 0.8;

/** Row-major unit vectors around shared centres: `count` rows from `stream` of this seed. */
export function madeVectors(count, seed, stream) {
  const centre = new Random(seed);
  const middle = Float32Array.from({ length: centres * dimension }, () => threeOf(centre));
  const random = new Random(seed + stream);
  const rows = new Float32Array(count * dimension);
  for (let row = 0; row < count; row++) {
    const from = random.integer(centres) * dimension;
    let squares = 0;
    for (let i = 0; i < dimension; i++) {
      const value = middle[from + i] + spread * threeOf(random);
      rows[row * dimension + i] = value;
      squares += value * value;
    }
    const inverse = 1 / Math.sqrt(squares);
    for (let i = 0; i < dimension; i++) rows[row * dimension + i] *= inverse;
  }
  return rows;
}

/** Nearly normal, and cheaper. */
const threeOf = (random) => random.uniform() + random.uniform() + random.uniform() - 1.5;

export async function writeRecords(path, count, seed, words = wordsPerText) {
  const random = new Random(seed + 3);
  const word = () => `w${Math.floor(vocabulary ** random.uniform())}`;
  const out = createWriteStream(path);
  for (let i = 0; i < count; i++) {
    const text = Array.from({ length: words }, word).join(' ');
    const record = { id: `record-${i}`, text, metadata: { year: 1900 + (i % 120), topic: `t${i % 50}` } };
    if (!out.write(`${i === 0 ? '[' : ',\n'}${JSON.stringify(record)}`))
      await new Promise((done) => out.once('drain', done));
  }
  await new Promise((done) => out.end(']', done));
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(path, hourAgo, hourAgo);
}

export const config = (type) => ({
  embedding_model: 'made',
  records_file: 'records.json',
  index_file: `${type}.index`,
  bm25_file: 'words.bm25',
  vector_type: type,
  search: { fusion: 'scores' },
  fields: [
    { name: 'year', type: 'int', optional: true },
    { name: 'topic', type: 'string', optional: true },
  ],
});

/** In place of an embedding model. @param vectors the vectors of all texts, or a function that gives those of some texts */
export function madeModel(vectors) {
  const made = {
    dimension,
    facts: { fingerprint: 'made', dimension },
    embedSettled: async (texts) => ({
      vectors: typeof vectors === 'function' ? vectors(texts) : vectors,
      errors: [],
    }),
  };
  // Knowledge bases take nothing but an EmbeddingModel.
  const members = Object.fromEntries(Object.entries(made).map(([name, value]) => [name, { value }]));
  return { model: Object.create(EmbeddingModel.prototype, members) };
}

/** Writes the files of a knowledge base as buildKnowledgeBase() writes them; records and words of the folder are kept. */
export async function buildMadeBase(folder, { type, count, seed, efConstruction, words }) {
  const file = (name) => join(folder, name);
  if (!existsSync(file('records.json'))) await writeRecords(file('records.json'), count, seed, words);
  const records = await Records.read(file('records.json'), { fields: config(type).fields });
  const vectors = await VectorIndex.build(madeVectors(count, seed, 1), dimension, {
    vectorType: type,
    efConstruction,
  });
  const fingerprint = indexFingerprint(records, madeModel(), 'error');
  await vectors.save(file(`${type}.index`), { fingerprint, records });
  if (!existsSync(file('words.bm25'))) await writeWords(folder, records, 'basic');
  writeFileSync(file(`${type}.json`), JSON.stringify(config(type)));
}

/** Writes the text index of a made base. `records`: as Records.read() gives them. */
export async function writeWords(folder, records, tokenizer) {
  const words = await TextIndex.fromRecords(records, { tokenizer });
  await words.save(join(folder, 'words.bm25'), { fingerprint: records.fingerprint });
}
