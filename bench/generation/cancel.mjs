// How soon computing ends after a cancel, in every phase of a reply: from the call to the end of the step that was running. The time
// includes the way to the inference thread and back to JavaScript.
//
//   node bench/generation/cancel.mjs [MODEL.gguf] [--cancels 300] [--threads 2] [--runtime decoder] [--prompt 4000]
//
// Phases: `prompt` is cancelled at a random time while a long prompt is computed, `reply` after a few tokens behind a short one, `deep reply`
// behind a long one, `grammar` in a reply held to a JSON schema, and `queue` while another long prompt has the model.
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../harness/cache.mjs';
import { Random } from '../harness/numbers.mjs';
import { LanguageModel } from '../lorekeep.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cancels: { type: 'string', default: '300' },
    threads: { type: 'string', default: '2' },
    runtime: { type: 'string', default: 'decoder' },
    prompt: { type: 'string', default: '4000' },
  },
});
const folder = resolve(process.env.LOREKEEP_MODELS ?? join(root, '..', 'shared', 'models'));
const path = positionals[0] ?? join(folder, 'SmolLM2-135M-Instruct.Q4_1.gguf');
const cancels = Number(values.cancels);
const long = Number(values.prompt);
const random = new Random(7);
const model = await LanguageModel.load(path, {
  runtime: values.runtime,
  threads: Number(values.threads),
  batchThreads: Number(values.threads),
  contextSize: long + 512,
  kvCells: 3 * (long + 512),
});
const vocabulary = Math.min(40_000, model.facts.vocabularySize);
let salt = 0;
/** Tokens that no earlier prompt began with, so that all are computed. */
const prompt = (count) => {
  salt++;
  return Int32Array.from(
    { length: count },
    (_, i) => 300 + ((salt * 7919 + i * 31 + (i % 7) * salt) % (vocabulary - 300)),
  );
};
const deep = prompt(long);
const pinned = await model.prefix(deep);
const schema = {
  type: 'object',
  properties: { words: { type: 'array', items: { type: 'string' } } },
  required: ['words'],
};
const greedy = { temperature: 0 };

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const started = performance.now();
await model.generate({ prompt: prompt(long), maxTokens: 1, sampling: greedy }).result;
const promptMs = performance.now() - started;

async function afterTokens(request, count) {
  const generation = model.generate({ ...request, sampling: greedy, maxTokens: 400 });
  generation.result.catch(() => {});
  let seen = 0;
  for await (const _ of generation) if (++seen >= count) break;
  return generation;
}

const phases = {
  async prompt() {
    const generation = model.generate({ prompt: prompt(long), maxTokens: 4, sampling: greedy });
    await sleep(random.uniform() * promptMs * 0.9);
    return [generation];
  },
  reply: async () => [await afterTokens({ prompt: prompt(20) }, 1 + random.integer(6))],
  'deep reply': async () => [await afterTokens({ prompt: deep }, 1 + random.integer(6))],
  grammar: async () => [await afterTokens({ prompt: prompt(20), schema }, 1 + random.integer(3))],
  async queue() {
    const first = model.generate({ prompt: prompt(long), maxTokens: 4, sampling: greedy });
    const second = model.generate({ prompt: prompt(long), maxTokens: 4, sampling: greedy });
    await sleep(random.uniform() * 20);
    return [second, first];
  },
};

console.log(
  `${model.facts.name}, ${model.facts.runtime}, ${values.threads} threads, prompts of ${long} tokens (${promptMs.toFixed(0)} ms)`,
);
for (const [name, start] of Object.entries(phases)) {
  const times = [];
  for (let i = 0; i < cancels; i++) {
    const generations = await start();
    const begin = performance.now();
    for (const generation of generations) generation.cancel();
    await model.numbers();
    times.push(performance.now() - begin);
    for (const generation of generations) await generation.result.catch(() => {});
  }
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(share * times.length))].toFixed(2);
  console.log(`${name}: median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`);
}
await pinned.close();
await model.close();
