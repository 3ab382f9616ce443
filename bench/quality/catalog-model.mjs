import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { root } from '../harness/cache.mjs';
import { OptionError } from '../harness/command-line.mjs';
import { EmbeddingModel } from '../lorekeep.mjs';

const catalogFile = join(root, 'data', 'models.json');

/**
 * Loads an embedding model of data/models.json by its name, or a file whose name begins with that of an entry.
 * @returns {entry, model} @throws OptionError for a name that is not in the catalog
 */
export async function loadCatalogModel(name) {
  const { models } = JSON.parse(readFileSync(catalogFile, 'utf8'));
  const isFile = name.endsWith('.gguf');
  const entry = models.find((one) => (isFile ? basename(name).startsWith(one.name) : one.name === name));
  if (entry === undefined) throw new OptionError(`--models ${name}: not in ${catalogFile}`);
  const file = isFile ? resolve(name) : resolve(dirname(catalogFile), entry.variants[0].file);
  return { entry, model: await EmbeddingModel.load(file, { pooling: entry.pooling }) };
}
