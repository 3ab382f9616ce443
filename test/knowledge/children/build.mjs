// argv: folder, nth. Builds the knowledge base of kb.json again and again, everything anew, until it is killed. Sends
// 'building' before the first build. Where nth is not 0, the process kills itself while it writes its nth temporary
// file.
import { readdirSync, rmSync, utimesSync } from 'node:fs';
import { EmbeddingModel } from 'lorekeep';
import { buildKnowledgeBase } from 'lorekeep/knowledge-base';

const [folder, nth] = process.argv.slice(2);
const model = await EmbeddingModel.load(`${folder}/tiny.gguf`, { threads: 1 });
process.send('building');
if (Number(nth) > 0) killWhileWriting(Number(nth));
for (;;) {
  rmSync(`${folder}/kb.embeddings`, { force: true });
  utimesSync(`${folder}/kb.bm25`, 0, 0); // older than the records: to be made again
  await buildKnowledgeBase(`${folder}/kb.json`, { models: async () => ({ model }) });
}

function killWhileWriting(left, seen = '') {
  const writing = readdirSync(folder).find(
    (name) => name.endsWith('.tmp') && name.includes(`.${process.pid}-`),
  );
  const isNew = writing !== undefined && writing !== seen;
  if (isNew && left === 1) process.kill(process.pid, 'SIGKILL');
  setImmediate(killWhileWriting, isNew ? left - 1 : left, writing ?? seen);
}
