// argv: folder on a small file system, path of a model. Builds what fits, then what does not, and forgets on a full disk. Sends what was seen.
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { EmbeddingModel } from 'lorekeep';
import { buildKnowledgeBase, openKnowledgeBase } from 'lorekeep/knowledge-base';

const [folder, modelPath] = process.argv.slice(2);
const model = await EmbeddingModel.load(modelPath);
const options = { models: async () => ({ model }) };
const config = { embedding_model: 'tiny', records_file: 'records.json', embeddings_file: 'kb.embeddings' };
const recordsOf = (count) => Array.from({ length: count }, (_, n) => ({ id: `r${n}`, text: `honey ${n}` }));
const write = (name, content) => writeFileSync(`${folder}/${name}`, JSON.stringify(content));
const files = ['kb.index', 'kb.bm25', 'kb.embeddings'];
const contents = () => files.map((name) => readFileSync(`${folder}/${name}`, 'base64'));

write('kb.json', { ...config, index_file: 'kb.index' });
write('records.json', recordsOf(20));
await buildKnowledgeBase(`${folder}/kb.json`, options);
const before = contents();
write('records.json', recordsOf(2000));
const warned = [];
const log = { info() {}, warn: (_, message) => warned.push(message) };
const error = await buildKnowledgeBase(`${folder}/kb.json`, { ...options, log }).catch((reason) => reason);
const unchanged = contents().every((content, n) => content === before[n]);
write('records.json', recordsOf(20));
const opened = await openKnowledgeBase(`${folder}/kb.json`, options);
const strays = () => readdirSync(folder).filter((name) => name.endsWith('.tmp'));
const built = { size: opened.size, strays: strays() };
await opened.add([{ id: 'long', text: `honey${' '.repeat(12_000)}` }]);
try {
  for (;;) appendFileSync(`${folder}/filler`, Buffer.alloc(4096));
} catch (reason) {
  if (reason.code !== 'ENOSPC') throw reason;
}
const unforgotten = await opened.forget(['long']).catch((reason) => reason.code);
process.send({
  code: error.code,
  message: error.message,
  warned,
  unchanged,
  ...built,
  forgetting: { error: unforgotten, isThere: await opened.has('long'), strays: strays() },
});
await opened.close();
process.disconnect();
