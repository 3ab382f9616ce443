// node-llama-cpp with its prebuilt binaries: some contexts of some threads, each embedding one text at a time.
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { timeBulk, timeEach } from '../timing.mjs';

const { model: modelPath, contexts, threads } = contestantOptions();
const llama = await getLlama({
  build: 'never',
  gpu: false,
  logLevel: LlamaLogLevel.error,
  maxThreads: contexts * threads,
  skipDownload: true,
});
const model = await llama.loadModel({ modelPath });
const settings = { contextSize: 512, batchSize: 512, threads };
const pool = await Promise.all(
  Array.from({ length: contexts }, () => model.createEmbeddingContext(settings)),
);

serve({
  facts: () => ({ contexts, threads }),
  bulk: (texts) =>
    timeBulk(texts, async () => {
      const rows = new Array(texts.length);
      let next = 0;
      const work = async (context) => {
        while (next < texts.length) {
          const i = next++;
          rows[i] = (await context.getEmbeddingFor(texts[i])).vector;
        }
      };
      await Promise.all(pool.map(work));
      return (i) => rows[i];
    }),
  each: (texts) => timeEach(texts, (text) => pool[0].getEmbeddingFor(text)),
});
