// Indexes the documents of a folder and answers a question from them. A second run reads only what has changed.
// node knowledge-base.mjs [folder] [question]
import { fileURLToPath } from 'node:url';
import { createKnowledgeBase } from 'lorekeep/knowledge-base';

const manual = new URL('docs', import.meta.resolve('lorekeep/package.json')); // the pages of the package
const folder = process.argv[2] ?? fileURLToPath(manual);
const question = process.argv[3] ?? 'What happens when the disk is full?';

const kb = await createKnowledgeBase({ folder }); // kept in the user's data folder
const { records, files, embedded, problems, config } = kb.index;
console.log(`${records} records of ${files} files, ${embedded} texts embedded, in ${config}`);
for (const { path, reason } of problems) console.log(`${path}: ${reason}`);
const { hits } = await kb.search({ text: question, topK: 3 });
for (const { rank, score, id, text } of hits) {
  console.log(`${rank}. ${score.toFixed(3)} ${id}: ${text.replace(/\s+/g, ' ').slice(0, 90)}`);
}
await kb.close();
