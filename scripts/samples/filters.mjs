// The error messages of docs/reference/filters.md.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../tool/project.mjs';

const fields = [
  { name: 'level', type: 'int', default: 0 },
  { name: 'places', type: 'set<string>', optional: true },
];

const defective = [
  { and: [{ '>=': [{ knowledge: 'level' }, 1] }, { '<=': [{ knowledge: 'levle' }, 5] }] },
  { '==': [{ knowledge: 'places' }, 'cave'] },
  { '<': [{ knowledge: 'level' }, '5'] },
  { '<=': [{ knowledge: 'level' }, { variable: 'player_level' }] },
];

/** Returns a line per defective filter. */
export async function filterSample() {
  const { Storage } = await import(pathToFileURL(join(root, 'dist', 'lib', 'index.js')).href);
  const storage = await Storage.build([{ id: 'a', text: 'A cave.' }], new Float32Array([1, 0]), 2, {
    fields,
  });
  const messages = [];
  for (const filter of defective)
    await storage
      .search({ mode: 'lexical', text: 'cave', filter })
      .catch(({ message }) => messages.push(message));
  await storage.close();
  return messages.join('\n');
}
