// node-llama-cpp with prebuilt binaries: contexts of a few threads each, every one embedding one text at a time.
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { contestantOptions, serve } from '../../harness/contestant.mjs';

const { model: modelPath, contexts, threads } = contestantOptions();
const llama = await getLlama({
  build: 'never',
  gpu: false,
  logLevel: LlamaLogLevel.error,
  maxThreads: contexts * threads,
  skipDownload: true,
});
const model = await llama.loadModel({ modelPath });
const pool = await Promise.all(
  Array.from({ length: contexts }, () =>
    model.createEmbeddingContext({ contextSize: 512, batchSize: 512, threads }),
  ),
);

serve({
  async embed(texts) {
    const rows = new Array(texts.length);
    let next = 0;
    const before = process.cpuUsage();
    const started = performance.now();
    await Promise.all(
      pool.map(async (context) => {
        while (next < texts.length) {
          const i = next++;
          rows[i] = (await context.getEmbeddingFor(texts[i])).vector;
        }
      }),
    );
    const seconds = (performance.now() - started) / 1e3;
    const { user, system } = process.cpuUsage(before);
    return {
      seconds,
      processor: (user + system) / 1e6,
      rows: rows.slice(0, 8).map((row) => Array.from(row)),
    };
  },
});
