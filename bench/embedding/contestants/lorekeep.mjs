// lorekeep, by its public API: all texts in one call.
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { EmbeddingModel } from '../../lorekeep.mjs';

const { model: path, load = {} } = contestantOptions();
const model = await EmbeddingModel.load(path, load);

serve({
  async embed(texts) {
    const before = process.cpuUsage();
    const started = performance.now();
    const rows = await model.embed(texts);
    const seconds = (performance.now() - started) / 1e3;
    const { user, system } = process.cpuUsage(before);
    const width = model.dimension;
    const first = Array.from({ length: Math.min(8, texts.length) }, (_, i) =>
      Array.from(rows.subarray(i * width, (i + 1) * width)),
    );
    return { seconds, processor: (user + system) / 1e6, rows: first };
  },
});
