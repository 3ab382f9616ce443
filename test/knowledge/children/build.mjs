// argv: folder. Builds the knowledge base of kb.json again and again, everything anew, until it is killed. Sends 'building'
// before the first build.
import { rmSync, utimesSync } from 'node:fs';
import { EmbeddingModel } from 'lorekeep';
import { buildKnowledgeBase } from 'lorekeep/knowledge-base';

const [folder] = process.argv.slice(2);
const model = await EmbeddingModel.load(`${folder}/tiny.gguf`, { threads: 1 });
process.send('building');
for (;;) {
  rmSync(`${folder}/kb.embeddings`, { force: true });
  utimesSync(`${folder}/kb.bm25`, 0, 0); // older than the records: to be made again
  await buildKnowledgeBase(`${folder}/kb.json`, { models: async () => ({ model }) });
}
