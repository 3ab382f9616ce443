import { readFileSync } from 'node:fs';
import { join } from 'node:path';
// @ts-expect-error: a script without types
import { importedFiles } from '../../scripts/layers/typescript.mjs';

const project = join(import.meta.dirname, '../..');

/** Every file that a file imports, directly or not: a source for a type alone too, a compiled file (.js) what it loads. */
export function reachable(entry: string): string[] {
  const found = new Set([entry]);
  for (const file of found) {
    const lines = readFileSync(join(project, file), 'utf8').split('\n');
    for (const imported of importedFiles(file, lines) as string[])
      found.add(entry.endsWith('.js') ? imported.replace(/\.ts$/, '.js') : imported);
  }
  return [...found];
}
