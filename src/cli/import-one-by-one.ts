import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { descriptorLimit } from '../files/descriptor-limit.js';

/** With more descriptors than this, Node.js may open as many modules at once as it likes. */
const enough = 256;

/**
 * Imports the modules of the package that imports most at once, one by one, where the process may have few files open: Node.js
 * opens all that a module imports together, and zod has a module for each of fifty languages.
 */
export async function importOneByOne(limit: number | undefined = descriptorLimit()): Promise<void> {
  if (limit === undefined || limit >= enough) return;
  const folder = dirname(fileURLToPath(import.meta.resolve('zod/v4/locales')));
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.js') && name !== 'index.js') await import(pathToFileURL(join(folder, name)).href);
  }
}
