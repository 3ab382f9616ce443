// MiniSearch as its documentation begins: default tokenizer and BM25+ scores, any word may match.
import MiniSearch from 'minisearch';

export async function minisearch(texts) {
  const index = new MiniSearch({ fields: ['text'] });
  index.addAll(texts.map((text, id) => ({ id, text })));
  return {
    search: async (query, k) =>
      index
        .search(query)
        .slice(0, k)
        .map(({ id }) => id),
    close: async () => {},
  };
}
