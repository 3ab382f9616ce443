// Builds a made-up knowledge base, or opens one, in a process that does nothing else.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { contestantOptions, serve } from '../harness/contestant.mjs';
import { residentBytes } from '../harness/memory.mjs';
import { openKnowledgeBase, VectorIndex } from '../lorekeep.mjs';
import { buildMadeBase, dimension, madeModel, madeVectors } from './made-base.mjs';

const queries = 200;
const { folder, type, records: count, seed, efConstruction } = contestantOptions();
const file = (name) => join(folder, name);

serve({
  /** As buildKnowledgeBase() writes the files. Bytes of each. */
  async build() {
    await buildMadeBase(folder, { type, count, seed, efConstruction });
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
