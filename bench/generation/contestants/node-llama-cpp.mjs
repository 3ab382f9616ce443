// node-llama-cpp with its prebuilt binaries: one context of four sequences, which it batches by itself.
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { residentBytes } from '../../harness/memory.mjs';
import { play } from '../timeline.mjs';

const { model: modelPath, end, threads, context: contextSize, slots = 4, batch = 512 } = contestantOptions();
const before = residentBytes().all;
const llama = await getLlama({
  build: 'never',
  gpu: false,
  logLevel: LlamaLogLevel.error,
  maxThreads: threads,
  skipDownload: true,
});
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({
  contextSize: Math.ceil(contextSize / slots),
  sequences: slots,
  threads,
  batchSize: batch,
});
const excluded = new Set(end);

function open({ prompt, maxTokens }) {
  const sequence = context.getSequence();
  let stopped = false;
  return {
    cancel() {
      stopped = true;
    },
    async *[Symbol.asyncIterator]() {
      try {
        let left = maxTokens;
        // Ended replies are few with greedy sampling; the iterator goes on past them.
        for await (const token of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
          if (stopped || left-- <= 0) return;
          void excluded.has(token);
          yield 1;
          if (left === 0) return;
        }
      } finally {
        sequence.dispose();
      }
    },
  };
}

serve({
  play: ({ requests }) => play(requests, open),
  async measure(request) {
    const entry = (await play([{ name: 'one', ...request }], open)).one;
    const first = entry.tokenMs[0] - entry.startMs;
    return {
      firstMs: first,
      prefillMs: first,
      decodeMs: entry.tokenMs.at(-1) - entry.tokenMs[0],
      completion: entry.tokenMs.length,
    };
  },
  memory: () => ({ all: residentBytes().all - before }),
});
