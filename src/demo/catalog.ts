import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isJsonWith, replaceOwn } from '../files/replace-own.js';
import type { FoundModel } from './language-model.js';

interface CatalogFile {
  version: number;
  models: { variants: { file: string; context_size?: number }[]; [field: string]: unknown }[];
}

/** Context of the language model, in tokens: enough for a few paragraphs and an answer. */
const context_size = 2048;

/** Writes the package's catalog with a language model in addition, and returns its path; without one, the package's. */
export async function writeCatalog(
  folder: string,
  shipped: string,
  model: FoundModel | undefined,
): Promise<string> {
  if (model === undefined) return shipped;
  const { version, models } = JSON.parse(await readFile(shipped, 'utf8')) as CatalogFile;
  const here = models.map(({ variants, ...rest }) => ({
    ...rest,
    variants: variants.map((variant) => ({ ...variant, file: resolve(dirname(shipped), variant.file) })),
  }));
  const talker = { name: model.name, model_type: 'llm', variants: [{ file: model.path, context_size }] };
  const path = join(folder, 'models.json');
  const text = JSON.stringify({ version, models: [...here, talker] }, undefined, 2);
  await replaceOwn(
    path,
    text,
    isJsonWith((found) => found.version === version && Array.isArray(found.models)),
  );
  return path;
}
