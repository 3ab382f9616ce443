// As its documentation begins; the index is kept as JSON.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';

const options = { fields: ['text'] };

export async function build(texts, folder) {
  mkdirSync(folder, { recursive: true });
  const index = new MiniSearch(options);
  index.addAll(texts.map((text, id) => ({ id, text })));
  writeFileSync(join(folder, 'index.json'), JSON.stringify(index));
}

export async function open(folder) {
  const index = MiniSearch.loadJSON(readFileSync(join(folder, 'index.json'), 'utf8'), options);
  return async (text, k) =>
    index
      .search(text)
      .slice(0, k)
      .map(({ id }) => id);
}
