// What the GPU computes, beside the CPU.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddingModel, LanguageModel } from 'lorekeep';
import { beginnings, gpu, greedy, must, mustAgree, onCpu, onGpu, root, someTokens } from './found.mjs';

const miniLm = join(root, 'data', 'models', 'all-MiniLM-L6-v2.gguf');
/** Of a software GPU more: Mesa's llvmpipe differed by 0.0043, with cosines above 0.999. */
const embeddingBound = ({ small }) => (small ? 1e-2 : 1e-3);
/**
 * Of log-probabilities of the likeliest tokens: the bound is this, or as often what the two runtimes on the CPU differ by. Random
 * weights damp no rounding, and there is no true value.
 */
const [logitBound, timesOfRuntimes] = [0.05, 2];
const [listed, compared] = [100, 20];
/** Files from which on the CPU computes short prompts only. */
const largeBytes = 2e9;

export async function greedyTokens(cpu, other, prompts, what) {
  const results = (model) => Promise.all(prompts.map((prompt) => model.generate(greedy(prompt)).result));
  const [mine, theirs] = [await results(cpu), await results(other)];
  return mine.map((result, i) => mustAgree(result, theirs[i], `${what}, prompt ${i}`));
}

export async function greedyOf(options) {
  await gpu(options);
  const [cpu, other] = [await onCpu(options.stories), await onGpu(options.stories)];
  const alone = [];
  for (const prompt of beginnings) alone.push(...(await greedyTokens(cpu, other, [prompt], 'alone')));
  return { alone, together: await greedyTokens(cpu, other, beginnings, 'together') };
}
export { greedyOf as greedy };

export async function logits(options) {
  await gpu(options);
  const found = {};
  for (const path of options.shapes) {
    const lengths = options.small || statSync(path).size > largeBytes ? [1, 7, 40] : [1, 7, 64, 300];
    const load = { contextSize: 512, kvCells: 512 };
    const reference = await likeliest(() => onCpu(path, load), lengths);
    const runtimes = difference(reference, await likeliest(() => own(path, load), lengths));
    const devices = difference(reference, await likeliest(() => onGpu(path, load), lengths));
    const bound = Math.max(logitBound, timesOfRuntimes * runtimes);
    found[path.split('/').at(-1)] = { devices, runtimes, bound };
    must(
      devices <= bound,
      `${path}: log-probabilities differ by ${devices.toFixed(3)}, more than ${bound}`,
      found,
    );
  }
  return found;
}

const own = (path, load) => LanguageModel.load(path, { ...load, runtime: 'decoder', placement: 'ram' });

/** After prompts of some lengths: token -> log-probability, the likeliest first. */
async function likeliest(load, lengths) {
  const model = await load();
  const found = [];
  for (const length of lengths) {
    const request = {
      prompt: someTokens(length, length, 40_000),
      maxTokens: 1,
      sampling: { temperature: 0 },
      logprobs: listed,
    };
    const { logprobs } = await model.generate(request).result;
    found.push(new Map(logprobs[0].top.map(({ token, logprob }) => [token, logprob])));
  }
  await model.close();
  return found;
}

/** The largest of the likeliest tokens' differences. A token that the other does not list has at most its last one. */
function difference(reference, other) {
  const differences = reference.flatMap((tokens, at) => {
    const least = Math.min(...other[at].values());
    return [...tokens]
      .slice(0, compared)
      .map(([token, value]) => Math.abs(value - (other[at].get(token) ?? least)));
  });
  must(differences.every(Number.isFinite), 'a log-probability is no finite number');
  return Math.max(...differences);
}

const texts = [
  'The lighthouse keeper lit the lamp.',
  'Bread rises in a warm oven.',
  'bees',
  'The storm came in from the sea before the boats were home. '.repeat(30),
];

export async function embeddings(options) {
  await gpu(options);
  const cpu = await EmbeddingModel.load(miniLm, { placement: 'ram', runtime: 'llama.cpp' });
  const other = await EmbeddingModel.load(miniLm, { placement: 'vram' });
  const many = [
    ...texts,
    ...Array.from({ length: options.small ? 4 : 200 }, (_, n) => `${texts[n % 2]} ${n}`),
  ];
  const [mine, theirs] = [await cpu.embed(many), await other.embed(many)];
  const largest = mine.reduce((most, value, i) => Math.max(most, Math.abs(value - theirs[i])), 0);
  const found = { texts: many.length, largest, device: other.facts.device };
  const bound = embeddingBound(options);
  must(largest <= bound, `a number differs by ${largest}, more than ${bound}`, found);
  return found;
}

export async function together(options) {
  await gpu(options);
  const [first] = options.shapes;
  const prompt = someTokens(60, 5, 40_000);
  const words = await EmbeddingModel.load(miniLm, { placement: 'vram' });
  const stories = await onGpu(options.stories);
  const random = await onGpu(first);
  const work = [
    () => stories.generate(greedy(beginnings[0])).result,
    () => random.generate(greedy(prompt, 24)).result,
    () => words.embed(texts[0]),
  ];
  const alone = [];
  for (const one of work) alone.push(await one());
  const beside = await Promise.all(work.map((one) => one()));
  const largest = alone[2].reduce((most, value, i) => Math.max(most, Math.abs(value - beside[2][i])), 0);
  must(largest <= embeddingBound(options), `an embedding differs by ${largest}`);
  const tokens = [0, 1].map((i) => mustAgree(alone[i], beside[i], `model ${i + 1}`));
  for (const model of [words, stories, random]) await model.close();
  return { tokens, largest };
}

export async function hundred(options) {
  await gpu(options);
  const prompts = Array.from(
    { length: 100 },
    (_, n) => `${beginnings[n % 4]} ${'abcdefghij'[n % 10]}${Math.floor(n / 10)}`,
  );
  const load = { contextSize: 256, kvCells: 100 * 96 };
  const [cpu, other] = [await onCpu(options.stories, load), await onGpu(options.stories, load)];
  const agreed = await greedyTokens(cpu, other, prompts, 'together');
  return { replies: agreed.length, parted: agreed.filter(({ partsBy }) => partsBy !== undefined).length };
}
