import { readFileSync } from 'node:fs';
import { descriptorLimit } from '../base/machine/descriptor-limit.js';

/** With more descriptors than this, Node.js may open as many modules at once as it likes. */
const enough = 256;

/** What the bundle of the command line imports for the command `serve` (scripts/tool/program.mjs). */
const ofServer = /['"](\.\/serve-\w+\.js)['"]/;

/** Specifiers of the static imports of a bundled module. */
const ownImport = /^import\b[^'";]*['"](\.\/[^'"]+\.js)['"]/gm;

/**
 * Imports the server's modules one by one if the process may have few files open. Node.js opens all imports of a module at
 * once, and the server has more than a hundred.
 */
export async function importOneByOne(limit: number | undefined = descriptorLimit()): Promise<void> {
  if (limit === undefined || limit >= enough) return;
  const main = new URL('main.js', import.meta.url);
  const serve = ofServer.exec(readFileSync(main, 'utf8'))?.[1];
  if (serve !== undefined) await importAfterItsImports(new URL(serve, main), new Set());
}

async function importAfterItsImports(module: URL, seen: Set<string>): Promise<void> {
  if (seen.has(module.href)) return;
  seen.add(module.href);
  for (const [, target = ''] of readFileSync(module, 'utf8').matchAll(ownImport)) {
    await importAfterItsImports(new URL(target, module), seen);
  }
  await import(module.href);
}
