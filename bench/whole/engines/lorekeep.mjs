// A knowledge base with the default model, tokenizer and mode, as `lorekeep init` writes one.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildKnowledgeBase, CatalogModels, openKnowledgeBase } from '../../../dist/src/knowledge/index.js';

const config = {
  embedding_model: 'all-MiniLM-L6-v2',
  records_file: 'records.json',
  index_file: 'kb.index',
  bm25_tokenizer: 'enhanced',
  search: { mode: 'hybrid', fusion: 'scores', feedback: 0.3 },
  long_text: 'truncate',
};

export async function build(texts, folder) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'kb.json'), JSON.stringify(config));
  writeFileSync(
    join(folder, 'records.json'),
    // One abstract of Cranfield is blank, which a record must not be.
    JSON.stringify(texts.map((text, i) => ({ id: String(i), text: text.trim() || '-' }))),
  );
  const models = await CatalogModels.open();
  await buildKnowledgeBase(join(folder, 'kb.json'), { models });
  await models.close();
}

export const open = (folder) => opened(folder, 'hybrid');

export async function opened(folder, mode) {
  const models = await CatalogModels.open();
  const kb = await openKnowledgeBase(join(folder, 'kb.json'), { models });
  return async (text, topK) => (await kb.search({ text, topK, mode })).hits.map(({ id }) => Number(id));
}
