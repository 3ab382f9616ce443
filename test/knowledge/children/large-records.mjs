// argv: folder, megabytes. Writes a records file of about that size and an index over as many random rows, opens them and
// sends the peak of resident memory beyond what the process had before, and the size of the file, in bytes.
import { closeSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { EmbeddingModel, VectorIndex } from 'lorekeep';
import { openKnowledgeBase } from 'lorekeep/knowledge-base';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';

const [folder, megabytes] = process.argv.slice(2);
const textBytes = 8000;
const dimension = 32;
const count = Math.floor((Number(megabytes) * 1e6) / (textBytes + 40));
const vocabulary = Array.from({ length: 20_000 }, (_, n) => `word${n.toString(36)}`);
let state = 1;
const below = (bound) => {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % bound;
};

const file = openSync(`${folder}/records.json`, 'w');
for (let n = 0; n < count; n++) {
  let text = '';
  while (text.length < textBytes) text += `${vocabulary[below(below(vocabulary.length) + 1)]} `;
  writeSync(file, `${n === 0 ? '[' : ','}\n${JSON.stringify({ id: `r${n}`, text })}`);
}
writeSync(file, '\n]');
closeSync(file);
await createTinyModel({ texts: vocabulary.slice(0, 100), path: `${folder}/tiny.gguf`, dimension });
const rows = Float32Array.from({ length: count * dimension }, () => below(1000) - 500);
const index = await VectorIndex.build(rows, dimension, { m: 4, efConstruction: 10 });
await index.save(`${folder}/kb.index`);
await index.close();
const config = { embedding_model: 'tiny', records_file: 'records.json', index_file: 'kb.index' };
writeFileSync(`${folder}/kb.json`, JSON.stringify(config));

const status = (name) =>
  Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
const model = await EmbeddingModel.load(`${folder}/tiny.gguf`);
globalThis.gc?.();
writeFileSync('/proc/self/clear_refs', '5'); // the peak starts anew
const before = status('VmRSS');
const opened = await openKnowledgeBase(`${folder}/kb.json`, { models: async () => ({ model }) });
process.send({
  records: opened.size,
  peak: status('VmHWM') - before,
  bytes: statSync(`${folder}/records.json`).size,
});
await opened.close();
process.disconnect();
