import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { descriptorLimit } from '../base/machine/descriptor-limit.js';

/** With more descriptors than this, Node.js may open as many modules at once as it likes. */
const enough = 256;

/** Specifiers of modules of our own, as the compiler writes them. */
const ownImport = /^(?:import|export)\b[^'";]*['"](\.{1,2}\/[^'"]+\.js)['"]/gm;

/**
 * Imports the server's modules one by one if the process may have few files open. Node.js opens all imports of a module at
 * once: zod has a module for each of fifty languages, and the server has many of its own.
 */
export async function importOneByOne(limit: number | undefined = descriptorLimit()): Promise<void> {
  if (limit === undefined || limit >= enough) return;
  const locales = fileURLToPath(new URL('.', import.meta.resolve('zod/v4/locales')));
  for (const name of readdirSync(locales)) {
    if (name.endsWith('.js') && name !== 'index.js') await import(pathToFileURL(join(locales, name)).href);
  }
  await importAfterItsImports(new URL('../server/server.js', import.meta.url), new Set());
}

async function importAfterItsImports(module: URL, seen: Set<string>): Promise<void> {
  if (seen.has(module.href)) return;
  seen.add(module.href);
  for (const [, target = ''] of readFileSync(module, 'utf8').matchAll(ownImport)) {
    await importAfterItsImports(new URL(target, module), seen);
  }
  await import(module.href);
}
