import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { descriptorLimit } from '../files/descriptor-limit.js';

/** With more descriptors than this, Node.js may open as many modules at once as it likes. */
const enough = 256;

/** Folders of the server's modules; what others import comes first. */
const folders = [
  'schema',
  'lifecycle',
  'failure',
  'files',
  'protocol',
  'log',
  'limits',
  'config',
  'catalog',
  'knowledge',
  'storages',
  'server',
];

/**
 * Imports modules one by one where the process may have few files open: Node.js opens all that a module imports together, zod has a
 * module for each of fifty languages, and the server has many of its own.
 */
export async function importOneByOne(limit: number | undefined = descriptorLimit()): Promise<void> {
  if (limit === undefined || limit >= enough) return;
  await importFolder(dirname(fileURLToPath(import.meta.resolve('zod/v4/locales'))));
  for (const name of folders) await importFolder(fileURLToPath(new URL(`../${name}`, import.meta.url)));
}

async function importFolder(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.js') && name !== 'index.js') await import(pathToFileURL(join(folder, name)).href);
  }
}
