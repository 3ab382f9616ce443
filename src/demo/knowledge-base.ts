import { join } from 'node:path';
import { buildKnowledgeBase, CatalogModels, openKnowledgeBase } from '../knowledge/index.js';
import { replaceFile } from './folder.js';
import type { Paragraph } from './paragraphs.js';

/** The config file's name within its folder. */
export const knowledgeBaseFile = 'docs.json';

/**
 * Writes records and config into a folder and builds the indexes, unless those of an earlier run open.
 * @returns the build time in milliseconds, or undefined
 */
export async function writeKnowledgeBase(
  folder: string,
  paragraphs: readonly Paragraph[],
  { catalog, name }: { catalog: string; name: string },
): Promise<number | undefined> {
  const path = join(folder, knowledgeBaseFile);
  const models = await CatalogModels.open(catalog);
  try {
    if (await opens(path, models)) return undefined;
    await writeSources(folder, paragraphs, name);
    const started = performance.now();
    await buildKnowledgeBase(path, { models });
    return performance.now() - started;
  } finally {
    await models.close();
  }
}

async function opens(path: string, models: CatalogModels): Promise<boolean> {
  try {
    await (await openKnowledgeBase(path, { models })).close();
    return true;
  } catch {
    return false;
  }
}

async function writeSources(
  folder: string,
  paragraphs: readonly Paragraph[],
  embedding_model: string,
): Promise<void> {
  const records = paragraphs.map(({ source, text }, index) => ({
    id: `${source}#${index}`,
    text,
    metadata: { page: source },
  }));
  const config = {
    embedding_model,
    records_file: 'records.json',
    index_file: 'docs.index',
    bm25_tokenizer: 'enhanced',
    fields: [{ name: 'page', type: 'string', optional: true }],
  };
  await replaceFile(join(folder, 'records.json'), JSON.stringify(records, undefined, 1));
  await replaceFile(join(folder, knowledgeBaseFile), JSON.stringify(config, undefined, 2));
}
