// The knowledge bases that the campaign works on, and what they answer: a folder of two over the same records,
//
//   kb.json      index_file, its text index beside it, embeddings_file
//   plain.json   bm25_file alone: indexes are made on opening
//
// with models of a few kilobytes, a catalog and a server config. Everything follows from the seed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeTinyDecoder } from '../../test/helpers/tiny-model/tiny-decoder.mjs';
import { createTinyModel } from '../../test/helpers/tiny-model/tiny-model.mjs';
import { buildKnowledgeBase, EmbeddingModel, openKnowledgeBase } from '../lorekeep.mjs';
import { Random } from './random.mjs';

export const modelName = 'tiny';
const dimension = 64;
const wordsPerRecord = 12;
const years = 20;
const questions = 6;
const longRecords = 21;
const longText = 250_000;
const modes = ['dense', 'lexical', 'hybrid'];
const topK = 5;
const fields = [
  { name: 'year', type: 'int', optional: true },
  { name: 'tags', type: 'set<string>', optional: true },
];
export const configs = {
  'kb.json': {
    records_file: 'records.json',
    index_file: 'kb.index',
    embeddings_file: 'kb.embeddings',
    fields,
  },
  'plain.json': { records_file: 'records.json', bm25_file: 'plain.bm25', fields },
};
const syllables = ['ba', 'ko', 'lu', 'mi', 'ne', 'ro', 'sa', 'ti', 'vu', 'zy'];

export class Sample {
  #model;

  constructor(folder, { seed, records = 60 }) {
    this.folder = folder;
    this.random = new Random(seed);
    this.count = records;
    this.words = Array.from({ length: 150 }, () =>
      Array.from({ length: 2 + this.random.below(3) }, () => this.random.of(syllables)).join(''),
    );
    this.questions = Array.from({ length: questions }, () => this.#text(3));
  }

  at = (...names) => join(this.folder, ...names);

  /** Writes everything but the index files. */
  async write() {
    mkdirSync(this.folder, { recursive: true });
    this.records = this.makeRecords();
    this.writeJson('records.json', this.records);
    for (const [name, config] of Object.entries(configs))
      this.writeJson(name, { embedding_model: modelName, ...config });
    this.writeJson('models.json', {
      version: 1,
      models: [
        { name: modelName, model_type: 'embedding', variants: [{ file: 'tiny.gguf' }] },
        { name: 'writer', model_type: 'llm', variants: [{ file: 'writer.gguf' }] },
      ],
    });
    writeFileSync(this.at('patterns.txt'), this.#patterns(1000, 75));
    writeFileSync(this.at('few-patterns.txt'), this.#patterns(500, 2));
    writeFileSync(this.at('slow-patterns.txt'), slowPatterns);
    await writeTinyDecoder('llama', this.at('writer.gguf'), { context: 8192 });
    await createTinyModel({ texts: [this.words.join(' ')], path: this.at('tiny.gguf'), dimension });
    this.#model = await EmbeddingModel.load(this.at('tiny.gguf'), { threads: 1 });
    return this;
  }

  /** Patterns that match nothing, for guardrails. */
  #patterns(count, repeated) {
    const pattern = (_, n) => `${this.words[n % this.words.length]}${n}${'(a|b)?[0-9]x'.repeat(repeated)}`;
    return Array.from({ length: count }, pattern).join('\n');
  }

  makeRecords() {
    return Array.from({ length: this.count }, (_, n) => ({
      id: `r${n}`,
      text: `${this.#text(wordsPerRecord)} ${n}`,
      metadata: { year: 2000 + this.random.below(years), tags: [this.random.of(this.words)] },
    }));
  }

  /** Also writes `long.json`, whose records have long texts. Its indexes are made on opening. */
  writeLong() {
    const text = (n) => `topic${n} ${`${this.words[n]} `.repeat(longText / this.words[n].length)}`;
    this.writeJson(
      'long-records.json',
      Array.from({ length: longRecords }, (_, n) => ({ id: `l${n}`, text: text(n) })),
    );
    const config = { embedding_model: modelName, records_file: 'long-records.json', long_text: 'truncate' };
    this.writeJson('long.json', config);
  }

  get models() {
    return async () => ({ model: this.#model });
  }

  writeJson(name, value) {
    writeFileSync(this.at(name), JSON.stringify(value));
  }

  build(config = 'kb.json') {
    return buildKnowledgeBase(this.at(config), { models: this.models });
  }

  /** The answers of a knowledge base to every question in every mode, as one text. */
  async answers(config = 'kb.json') {
    const opened = await openKnowledgeBase(this.at(config), { models: this.models });
    try {
      return await answersOf(opened, this.questions);
    } finally {
      await opened.close();
    }
  }

  async close() {
    await this.#model?.close();
  }

  #text(length) {
    return Array.from({ length }, () => this.random.of(this.words)).join(' ');
  }
}

/** Answers of an opened knowledge base. */
export async function answersOf(opened, texts) {
  const answers = [opened.size];
  for (const text of texts) {
    for (const mode of modes) {
      const { hits } = await opened.search({ text, mode, topK });
      answers.push(hits.map(plainHit));
    }
  }
  // A forged integer may be beyond 2^53: a BigInt in the library, a decimal string on the wire.
  return JSON.stringify(answers, (_, value) => (typeof value === 'bigint' ? String(value) : value));
}

/** Answers of a client's session, of the same form; `times` takes how long each search took, in ms. */
export async function answersOfSession(session, name, size, texts, times = []) {
  const answers = [size];
  for (const text of texts) {
    for (const mode of modes) {
      const begin = performance.now();
      const { hits } = await session.search({ name, text, mode, topK: topK });
      times.push(performance.now() - begin);
      answers.push(hits.map(plainHit));
    }
  }
  return JSON.stringify(answers);
}

/** The first takes long to compile, the second to search for. */
const slowPatterns = `${'[a-z\\x{100}-\\x{10ffff}]'.repeat(35)}\n${'(\\p{L}+\\s*)'.repeat(20)}z\n`;

/** Settings of a server of the sample: its replies are the same whoever else generates. */
export const settingsOf = (sample) => ({
  models_catalog_path: sample.at('models.json'),
  log_level: 'info',
  memories_dir: sample.at('memories'),
  engines: { llm_engine: { inference: { runtime: 'decoder' } } },
});

const plainHit = ({ id, text, score, metadata }) => [id, text, Number(score.toFixed(5)), metadata];
