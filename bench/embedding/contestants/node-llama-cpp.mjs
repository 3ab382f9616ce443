// node-llama-cpp with its prebuilt binaries: some contexts of some threads, each embedding one text at a time.
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { timeBulk, timeEach } from '../timing.mjs';

const { model: modelPath, cores } = contestantOptions();
const configurations = {
  [`${cores} contexts x 1 thread`]: { contexts: cores, threads: 1 },
  [`1 context x ${cores} threads`]: { contexts: 1, threads: cores },
};
const llama = await getLlama({
  build: 'never',
  gpu: false,
  logLevel: LlamaLogLevel.error,
  maxThreads: cores,
  skipDownload: true,
});
const model = await llama.loadModel({ modelPath });
const pools = new Map();

async function poolOf(configuration) {
  const { contexts, threads } = configurations[configuration];
  if (!pools.has(configuration)) {
    const settings = { contextSize: 512, batchSize: 512, threads };
    const made = Array.from({ length: contexts }, () => model.createEmbeddingContext(settings));
    pools.set(configuration, await Promise.all(made));
  }
  return pools.get(configuration);
}

serve({
  configurations: () => Object.keys(configurations),
  async bulk({ texts, configuration }) {
    const pool = await poolOf(configuration);
    return timeBulk(texts, async () => {
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
    });
  },
  async each({ texts, configuration }) {
    const [context] = await poolOf(configuration);
    return timeEach(texts, (text) => context.getEmbeddingFor(text));
  },
});
