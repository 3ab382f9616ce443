// Retrieval turns beside a generation in the same process.
import { readTexts } from '../../harness/texts.mjs';
import { EmbeddingModel, Storage } from '../../lorekeep.mjs';

const records = 5000;

/** Milliseconds of hybrid searches with the embedding of their query, alone and beside; the longest step of the generation beside them. */
export async function retrieval({ generate, begun }, { queries, prompt, embedder }) {
  const { texts, queries: asked } = await readTexts(records, queries);
  const embedding = await EmbeddingModel.load(embedder);
  const rows = await embedding.embed(texts);
  const storage = await Storage.build(
    texts.map((text, i) => ({ id: String(i), text })),
    rows,
    embedding.dimension,
  );
  const ask = async () => {
    const times = [];
    for (const text of asked) {
      const begin = performance.now();
      const vector = await embedding.embed([text]);
      await storage.search({ mode: 'hybrid', topK: 5, vector, text });
      times.push(performance.now() - begin);
    }
    return times;
  };
  await ask();
  const alone = await ask();
  const generation = generate({ prompt, maxTokens: 100_000 });
  await begun(generation);
  const beside = await ask();
  generation.cancel();
  const { timing } = await generation.result;
  return { alone, beside, step: timing.longestGapMs };
}
