import { TextIndex } from '../../lorekeep.mjs';

/** @param tokenizer "basic", "enhanced" or "multilingual" */
export async function lorekeep(texts, { tokenizer = 'basic' } = {}) {
  const index = await TextIndex.build(texts, { tokenizer });
  return {
    search: async (query, k) => [...(await index.search(query, { k })).ordinals],
    save: (path) => index.save(path, { fingerprint: '0000000000000001' }),
    open: (path) => TextIndex.load(path),
    close: () => index.close(),
  };
}
