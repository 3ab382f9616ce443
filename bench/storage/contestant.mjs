// Builds a made-up knowledge base, or opens one, in a process that does nothing else.
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { indexFingerprint } from '../../dist/src/knowledge/model.js';
import { contestantOptions, serve } from '../harness/contestant.mjs';
import { residentBytes } from '../harness/memory.mjs';
import { openKnowledgeBase, Records, TextIndex, VectorIndex } from '../lorekeep.mjs';
import { config, dimension, madeModel, madeVectors, writeRecords } from './made-base.mjs';

const queries = 200;
const { folder, type, records: count, seed, efConstruction } = contestantOptions();
const file = (name) => join(folder, name);

serve({
  /** As buildKnowledgeBase() writes the files. Bytes of each. */
  async build() {
    if (!existsSync(file('records.json'))) await writeRecords(file('records.json'), count, seed);
    const records = await Records.read(file('records.json'), { fields: config(type).fields });
    const rows = madeVectors(count, seed, 1);
    const vectors = await VectorIndex.build(rows, dimension, { vectorType: type, efConstruction });
    const fingerprint = indexFingerprint(records, madeModel(), 'error');
    await vectors.save(file(`${type}.index`), { fingerprint, records });
    if (!existsSync(file('words.bm25'))) {
      const words = await TextIndex.fromRecords(records, {});
      await words.save(file('words.bm25'), { fingerprint: records.fingerprint });
    }
    writeFileSync(file(`${type}.json`), JSON.stringify(config(type)));
    const bytes = (name) => statSync(file(name)).size;
    return { records: bytes('records.json'), index: bytes(`${type}.index`), words: bytes('words.bm25') };
  },
  /** Opens, answers one hybrid query, then all dense ones. */
  async open() {
    const rows = madeVectors(queries, seed, 2);
    const query = (i) => rows.subarray(i * dimension, (i + 1) * dimension);
    const log = { info: (facts, message) => console.log(`${message}: ${facts.reason}`), warn: console.error };
    const models = async () => madeModel(query(0));
    const started = performance.now();
    const kb = await openKnowledgeBase(file(`${type}.json`), { models, log });
    const opened = performance.now();
    await kb.search({ text: 'w12 w3400 w77', mode: 'hybrid', topK: 10 });
    const answered = performance.now();
    const hits = [];
    for (let i = 0; i < queries; i++) {
      const found = await kb.storage.search({ vector: query(i), topK: 10 });
      hits.push(found.hits.map(({ ordinal }) => ordinal));
    }
    const result = {
      open: opened - started,
      firstAnswer: answered - started,
      resident: residentBytes(),
      hits,
    };
    await kb.close();
    return result;
  },
  /** The ten nearest rows of every query, by comparing all. */
  async truth() {
    const index = await VectorIndex.build(madeVectors(count, seed, 1), dimension, { kind: 'flat' });
    const found = await index.searchMany(madeVectors(queries, seed, 2), { k: 10 });
    return found.map(({ ordinals }) => [...ordinals]);
  },
});
