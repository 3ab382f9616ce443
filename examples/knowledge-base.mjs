// Makes a knowledge base of a folder's .txt and .md files, one record per paragraph, and answers a question from it.
// node examples/knowledge-base.mjs [folder] [question]
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildKnowledgeBase, CatalogModels, openKnowledgeBase } from 'lorekeep/knowledge-base';

const folder = process.argv[2] ?? fileURLToPath(new URL('../docs', import.meta.url));
const question = process.argv[3] ?? 'What happens when the disk is full?';

const records = [];
for (const file of (await readdir(folder, { recursive: true })).sort()) {
  if (!/\.(txt|md)$/.test(file)) continue;
  const paragraphs = (await readFile(join(folder, file), 'utf8')).split(/\n\s*\n/);
  for (const [part, text] of paragraphs.entries()) {
    if (text.trim() !== '') records.push({ id: `${file}#${part}`, text: text.trim(), metadata: { file } });
  }
}

const made = await mkdtemp(join(tmpdir(), 'lorekeep-example-')); // a knowledge base of yours stays where it is
const config = join(made, 'kb.json');
await writeFile(join(made, 'records.json'), JSON.stringify(records));
await writeFile(
  config,
  JSON.stringify({
    embedding_model: 'all-MiniLM-L6-v2',
    records_file: 'records.json',
    index_file: 'kb.index',
    long_text: 'truncate',
    fields: [{ name: 'file', type: 'string', optional: true }],
  }),
);

const models = await CatalogModels.open();
const { embedded, times } = await buildKnowledgeBase(config, { models });
console.log(`${records.length} paragraphs, ${embedded} texts embedded in ${Math.round(times.embed ?? 0)} ms`);
const kb = await openKnowledgeBase(config, { models });
const { hits } = await kb.search({ text: question, topK: 3 });
for (const { rank, score, metadata, text } of hits) {
  console.log(`${rank}. ${score.toFixed(3)} ${metadata.file}: ${text.replace(/\s+/g, ' ').slice(0, 90)}`);
}
await kb.close();
await models.close();
await rm(made, { recursive: true });
