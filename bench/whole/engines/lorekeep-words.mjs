// The text index alone: no model is loaded.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { TextIndex } from '../../../dist/lib/index.js';

export async function build(texts, folder) {
  mkdirSync(folder, { recursive: true });
  const index = await TextIndex.build(texts, { tokenizer: 'enhanced' });
  await index.save(join(folder, 'words.bm25'));
}

export async function open(folder) {
  const index = await TextIndex.load(join(folder, 'words.bm25'));
  return async (text, k) => [...(await index.search(text, { k })).ordinals];
}
