// node-llama-cpp with its prebuilt binaries: one context for four streams, which it batches by itself.
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { residentBytes } from '../../harness/memory.mjs';
import { play } from '../timeline.mjs';

const settings = contestantOptions();
const { model: modelPath, threads, context: contextSize, slots = 4, batch = 512 } = settings;
const before = residentBytes().all;
const llama = await getLlama({
  build: 'never',
  gpu: false,
  logLevel: LlamaLogLevel.error,
  maxThreads: threads,
  skipDownload: true,
});
const model = await llama.loadModel({ modelPath });
const sequences = slots + 1;
const context = await model.createContext({ contextSize, sequences, threads, batchSize: batch });
/** Keeps its tokens from one measurement to the next. */
const kept = context.getSequence();

function open({ prompt, maxTokens }) {
  const sequence = context.getSequence();
  let stopped = false;
  return {
    cancel() {
      stopped = true;
    },
    async *[Symbol.asyncIterator]() {
      try {
        for await (const _ of tokensOf(sequence, prompt, maxTokens)) {
          if (stopped) return;
          yield 1;
        }
      } finally {
        sequence.dispose();
      }
    },
  };
}

/** Goes on past tokens that end a reply. */
async function* tokensOf(sequence, prompt, maxTokens) {
  let left = maxTokens;
  for await (const token of sequence.evaluate(prompt, { temperature: 0, yieldEogToken: true })) {
    yield token;
    if (--left <= 0) return;
  }
}

serve({
  play: ({ requests }) => play(requests, open),
  /** With `reuse`, what a prompt begins with like the last one is not computed again. */
  async measure({ prompt, maxTokens, reuse = false }) {
    if (reuse) await kept.adaptStateToTokens(prompt, false);
    else await kept.clearHistory();
    const rest = prompt.slice(kept.nextTokenIndex);
    const times = [performance.now()];
    for await (const _ of tokensOf(kept, rest, maxTokens)) times.push(performance.now());
    return {
      computed: rest.length,
      prefillMs: times[1] - times[0],
      decodeMs: times.at(-1) - times[1],
      completion: times.length - 1,
    };
  },
  memory: () => ({ all: residentBytes().all - before }),
});
