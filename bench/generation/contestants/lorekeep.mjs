// lorekeep by its public API, with one of its two runtimes.
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { residentBytes } from '../../harness/memory.mjs';
import { LanguageModel, scheduler, setThrottle, useBackend } from '../../lorekeep.mjs';
import { play } from '../timeline.mjs';
import { cancels } from './cancels.mjs';
import { savePersona, withSavedPersona } from './personas.mjs';
import { retrieval } from './retrieval.mjs';

const { model: path, end, threads, context, batch = 512, backend, ...given } = contestantOptions();
if (backend) await useBackend(backend);
const options = {
  runtime: given.runtime ?? (backend ? 'llama.cpp' : 'decoder'),
  threads,
  batchThreads: threads,
  contextSize: context,
  kvCells: context,
  batchSize: batch,
  placement: backend ? 'vram' : 'ram',
};
const before = residentBytes().all;
const model = await LanguageModel.load(path, options);
const logitBias = Object.fromEntries(end.map((token) => [token, Number.NEGATIVE_INFINITY]));

// No drafts: replies to random tokens repeat themselves, which prompt lookup would turn into speed (drafts.mjs measures it).
function generate({ prompt, maxTokens, class: consumerClass = 'interactive_visible' }) {
  return model.generate({
    prompt: Int32Array.from(prompt),
    maxTokens,
    class: consumerClass,
    sampling: { temperature: 0 },
    logitBias,
    drafts: false,
  });
}

/** Waits for the first piece of a reply. */
const begun = (generation) => generation[Symbol.asyncIterator]().next();

/** Each piece counts as one token: a token without text of its own joins the next one. */
function open(request) {
  const generation = generate(request);
  generation.result.catch(() => {});
  return {
    cancel: () => generation.cancel(),
    async *[Symbol.asyncIterator]() {
      for await (const _ of generation) yield 1;
    },
  };
}

serve({
  configure: (settings) => scheduler.configure(settings),
  play: ({ requests }) => play(requests, open),
  /** The result's own times of one request. What it begins with like an earlier one is not computed again. */
  async measure(request) {
    const { timing, usage } = await generate(request).result;
    const { prefillMs, decodeMs } = timing;
    return { computed: usage.prompt - usage.cached, prefillMs, decodeMs, completion: usage.completion };
  },
  async memory() {
    const estimate = await LanguageModel.estimate(path, options);
    // Memory that the model added to the process: the estimate leaves out Node.js.
    return { all: residentBytes().all - before, estimate: estimate.total };
  },
  numbers: () => model.numbers(),
  cancels: (request) => cancels({ model, generate }, request),
  savePersona: (request) => savePersona({ model, generate }, request),
  withSavedPersona: (request) => withSavedPersona({ model, generate }, request),
  retrieval: (request) => retrieval({ generate, begun }, request),
  /** Tokens a second of one stream at a throttle level. */
  async generateFor({ ms, level, prompt }) {
    setThrottle(level);
    const generation = generate({ prompt, maxTokens: 100_000 });
    await begun(generation);
    const timer = setTimeout(() => generation.cancel(), ms);
    const { usage } = await generation.result;
    clearTimeout(timer);
    setThrottle(0);
    return { perSecond: usage.completion / (ms / 1000) };
  },
  /** The cores that a throttled generation uses in its pauses: processor time beyond the same tokens without pauses. */
  async pauseProcessorTime({ prompt }) {
    const maxPauseMs = 500;
    const tokens = 8;
    const used = async () => {
      const before = process.cpuUsage();
      const { pausedMs } = scheduler.stats();
      await generate({ prompt, maxTokens: tokens }).result;
      const { user, system } = process.cpuUsage(before);
      return { cpuMs: (user + system) / 1000, pausedMs: scheduler.stats().pausedMs - pausedMs };
    };
    await used(); // the prompt is in the cache from now on
    const plain = await used();
    scheduler.configure({ interactiveVisible: { maxPauseMs } });
    setThrottle(1);
    const paused = await used();
    setThrottle(0);
    scheduler.configure();
    return Math.max(0, paused.cpuMs - plain.cpuMs) / (paused.pausedMs - plain.pausedMs);
  },
});
