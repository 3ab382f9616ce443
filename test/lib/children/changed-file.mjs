// argv: folder, kind of change. Searches a storage from mapped files in a loop while its index file is changed in place, and
// prints the codes of what the searches threw, then what the next opening finds.
import { copyFileSync, readFileSync, renameSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { EmbeddingModel, VectorIndex } from 'lorekeep';
import { buildKnowledgeBase, openKnowledgeBase } from 'lorekeep/knowledge-base';

const [folder, change] = process.argv.slice(2);
const model = await EmbeddingModel.load(`${folder}/tiny.gguf`);
const options = { models: async () => ({ model }) };
const write = (name, word) => {
  const records = Array.from({ length: 3000 }, (_, n) => ({ id: `${word}${n}`, text: `${word} bees ${n}` }));
  writeFileSync(`${folder}/${name}-records.json`, JSON.stringify(records));
  const config = {
    embedding_model: 'tiny',
    records_file: `${name}-records.json`,
    index_file: `${name}.index`,
  };
  writeFileSync(`${folder}/${name}.json`, JSON.stringify(config));
  return buildKnowledgeBase(`${folder}/${name}.json`, options);
};
await write('a', 'honey');
await write('b', 'glacier');
const index = `${folder}/a.index`;
const bytes = readFileSync(index);
const changes = {
  'truncated to nothing': () => truncateSync(index, 0),
  'truncated to a half': () => truncateSync(index, Math.floor(bytes.length / 2)),
  'overwritten by another': () => copyFileSync(`${folder}/b.index`, index),
  'overwritten by noise': () => writeFileSync(index, Buffer.alloc(bytes.length, 0xa5)),
  'overwritten with its time set back': () => {
    writeFileSync(index, Buffer.alloc(bytes.length, 0x5a));
    utimesSync(index, new Date(1e9), new Date(1e9));
  },
  replaced: () => {
    copyFileSync(`${folder}/b.index`, `${folder}/new`);
    renameSync(`${folder}/new`, index);
  },
};

const base = await openKnowledgeBase(`${folder}/a.json`, options);
const vectors = await VectorIndex.load(index);
const query = await model.embed('honey bees');
const outcomes = new Set();
async function searchAll() {
  for (const mode of ['dense', 'lexical', 'hybrid']) {
    const searches = [1, 2, 3, 4].map(() => base.search({ text: 'honey bees', mode, topK: 50 }));
    for (const { status, value, reason } of await Promise.allSettled(searches)) {
      const wrong =
        status === 'fulfilled' &&
        value.hits.some(({ id, text }) => !/^honey\d+$/.test(id) || !text.startsWith('honey bees'));
      outcomes.add(
        status === 'rejected'
          ? `${reason.code}: ${/in place|could not be read/.test(reason.message)}`
          : wrong
            ? 'wrong'
            : 'right',
      );
    }
  }
  const found = await vectors.search(query, { k: 10 }).then(
    () => 'right',
    ({ code }) => code,
  );
  outcomes.add(`index ${found}`);
}
await searchAll();
const before = [...outcomes];
let stop = false;
const loop = (async () => {
  while (!stop) await searchAll();
})();
await new Promise((resolve) => setImmediate(resolve));
changes[change]();
stop = true;
await loop;
outcomes.clear();
for (let n = 0; n < 3; n++) await searchAll();
const after = [...outcomes];
await base.close();
await vectors.close();
await write('a', 'honey').catch(() => {});
process.stdout.write(JSON.stringify({ before, after }));
