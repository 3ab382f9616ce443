import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readFacts } from './place.js';

/** Returns the documents, relative to their folder, that gave records of its index and are still there. `config`: the index's. */
export async function documentsOf(config: string, ids: readonly string[]): Promise<string[]> {
  const facts = await readFacts(dirname(config));
  if (facts === undefined) return [];
  const documents = new Set<string>();
  for (const id of ids) {
    const [name = ''] = id.split('#', 1);
    for (const path of [
      pathOf(name),
      pathOf(name.replace(/~[^/]*$/, '')),
      pathOf(name.replace(/~[\d~]*$/, '')),
    ]) {
      const found = await stat(join(facts.folder, path)).catch(() => undefined);
      if (found?.isFile() !== true) continue;
      documents.add(path);
      break;
    }
  }
  return [...documents];
}

/** Undoes what ids do to paths (idOf() of scan.ts). */
const pathOf = (name: string) => name.replaceAll('%7E', '~').replaceAll('%23', '#').replaceAll('%25', '%');
