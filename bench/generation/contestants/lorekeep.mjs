// lorekeep by its public API.
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { residentBytes } from '../../harness/memory.mjs';
import { readTexts } from '../../harness/texts.mjs';
import { EmbeddingModel, LanguageModel, Storage, scheduler, setThrottle } from '../../lorekeep.mjs';
import { play } from '../timeline.mjs';

const { model: path, end, threads, context, batch = 512 } = contestantOptions();
const options = {
  threads,
  batchThreads: threads,
  contextSize: context,
  kvCells: context,
  batchSize: batch,
  placement: 'ram',
};
const before = residentBytes().all;
const model = await LanguageModel.load(path, options);
const logitBias = Object.fromEntries(end.map((token) => [token, Number.NEGATIVE_INFINITY]));

function generate({ prompt, maxTokens, class: consumerClass = 'interactive_visible' }) {
  return model.generate({
    prompt: Int32Array.from(prompt),
    maxTokens,
    class: consumerClass,
    sampling: { temperature: 0 },
    logitBias,
    logprobs: undefined,
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
  stats: () => scheduler.stats(),
  play: ({ requests }) => play(requests, open),
  /** The result's own times of one request. */
  async measure(request) {
    const { timing, usage } = await generate(request).result;
    return { ...timing, ...usage };
  },
  /**
   * Cancels a long request at random moments. `acknowledged`: from the cancel to the settled result; `behind`: the first token of a short
   * request that arrives with the cancel; `alone`: of one on an idle model.
   */
  async cancels({ long, short, count }) {
    const [acknowledged, alone, behind] = [[], [], []];
    const rotated = (tokens, by) => [...tokens.slice(by), ...tokens.slice(0, by)];
    let asked = 0;
    const first = async () => {
      // Another prompt each time, so that no cache helps.
      const prompt = rotated(short.prompt, ++asked % short.prompt.length).map((token) => token + asked);
      const begin = performance.now();
      await generate({ prompt, maxTokens: 1 }).result;
      return performance.now() - begin;
    };
    for (let i = 0; i < count; i++) {
      if (i % 10 === 0) alone.push(await first());
      const generation = generate({ ...long, prompt: rotated(long.prompt, i % long.prompt.length) });
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
      const begin = performance.now();
      generation.cancel();
      const next = i % 10 === 0 ? first() : undefined;
      await generation.result;
      acknowledged.push(performance.now() - begin);
      if (next) behind.push(await next);
    }
    return { acknowledged, alone, behind };
  },
  async memory() {
    const estimate = await LanguageModel.estimate?.(path, options);
    // What the model added to the process: the estimate does not know Node.js.
    return { all: residentBytes().all - before, estimate };
  },
  numbers: () => model.numbers?.(),
  /** Tokens a second of one stream at a throttle level. */
  async generateFor({ ms, level, prompt }) {
    setThrottle(level);
    const generation = generate({ prompt, maxTokens: 100_000 });
    await begun(generation);
    const end = setTimeout(() => generation.cancel(), ms);
    const { usage } = await generation.result;
    clearTimeout(end);
    setThrottle(0);
    return { perSecond: usage.completion / (ms / 1000) };
  },
  /** The cores that a throttled generation uses in its pauses: processor time beyond that of the same tokens without pauses. */
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
  /** Milliseconds of hybrid searches with the embedding of their query, and the longest step of the generation beside them. */
  async retrieval({ queries, prompt, embedder, records = 5000 }) {
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
  },
});
