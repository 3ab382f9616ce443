// lorekeep, by its public API: all texts in one call. It chooses its settings by itself.
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { EmbeddingModel, useBackend } from '../../lorekeep.mjs';
import { timeBulk, timeEach } from '../timing.mjs';

const { model: path, load = {}, backend } = contestantOptions();
if (backend) await useBackend(backend);
const started = performance.now();
const model = await EmbeddingModel.load(path, load);
const loadMs = performance.now() - started;

serve({
  facts: () => model.facts,
  loadMs: () => ({ loadMs }),
  configurations: () => ['own choice'],
  bulk: ({ texts }) =>
    timeBulk(texts, async () => {
      const vectors = await model.embed(texts);
      return (i) => vectors.subarray(i * model.dimension, (i + 1) * model.dimension);
    }),
  each: ({ texts }) => timeEach(texts, (text) => model.embed(text)),
});
