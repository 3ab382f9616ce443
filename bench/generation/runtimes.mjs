// The two runtimes of language models on the same files, in turns: prompts of several lengths, a chunk at a depth, replies, four streams.
//
//   node bench/generation/runtimes.mjs MODEL.gguf ... [--threads 2] [--rounds 3] [--reply 48] [--prompts 128,512,2048,4096] [--depth 4000]
//
// Tokens per second; `x` is decoder / llama.cpp, the median over the rounds of one round's ratio, so that a neighbour who takes the
// processor for a while spoils a round and not the result. variants.mjs makes a model's other formats.
import { basename } from 'node:path';
import { commandLine } from '../harness/command-line.mjs';
import { median } from '../harness/numbers.mjs';
import { LanguageModel } from '../lorekeep.mjs';

const { values, positionals } = commandLine({
  allowPositionals: true,
  options: {
    threads: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    reply: { type: 'string', default: '48' },
    prompts: { type: 'string', default: '128,512,2048,4096' },
    depth: { type: 'string', default: '4000' },
  },
});
const runtimes = ['llama.cpp', 'decoder'];
const [threads, rounds, reply, depth] = ['threads', 'rounds', 'reply', 'depth'].map((name) =>
  Number(values[name]),
);
const prompts = values.prompts.split(',').map(Number);
const chunk = 16;
const streams = 4;

let salt = 1;
const tokensOf = (model, length) => {
  const own = salt++;
  return Int32Array.from(
    { length },
    (_, i) => 300 + ((i * 7919 + own * 104_729) % (model.facts.vocabularySize - 400)),
  );
};
const join = (...parts) => Int32Array.from(parts.flatMap((part) => [...part]));

/** Tokens per second, by name of the measurement. */
function measurements() {
  const generate = (model, prompt, maxTokens) =>
    model.generate({ prompt, maxTokens, sampling: { temperature: 0 } }).result;
  const list = prompts.map((length) => [
    `prompt ${length}`,
    async (model) => {
      const { timing } = await generate(model, tokensOf(model, length), 1);
      return (1000 * length) / timing.prefillMs;
    },
  ]);
  list.push([
    `chunk ${chunk} at ${depth}`,
    async (model) => {
      const before = tokensOf(model, depth);
      await generate(model, before, 1);
      const { timing, usage } = await generate(model, join(before, tokensOf(model, chunk)), 1);
      return (1000 * (usage.prompt - usage.cached)) / timing.prefillMs;
    },
  ]);
  list.push([
    `reply ${reply}`,
    async (model) => {
      const { timing, usage } = await generate(model, tokensOf(model, 64), reply);
      return (1000 * (usage.completion - 1)) / timing.decodeMs;
    },
  ]);
  list.push([
    `${streams} replies`,
    async (model) => {
      const requests = Array.from({ length: streams }, () => generate(model, tokensOf(model, 64), reply));
      const results = await Promise.all(requests);
      const slowest = Math.max(...results.map(({ timing }) => timing.decodeMs));
      return (1000 * results.reduce((sum, { usage }) => sum + usage.completion - 1, 0)) / slowest;
    },
  ]);
  return list;
}

for (const path of positionals) {
  const models = [];
  for (const runtime of runtimes) {
    const contextSize = Math.max(depth, ...prompts) + chunk + 64;
    models.push(
      await LanguageModel.load(path, {
        runtime,
        threads,
        batchThreads: threads,
        contextSize,
        kvCells: 2 * contextSize,
      }),
    );
  }
  console.log(`${basename(path)}, ${threads} threads, ${rounds} rounds`);
  for (const [name, measure] of measurements()) {
    const found = runtimes.map(() => []);
    for (let round = 0; round < rounds; round++) {
      for (const [i, model] of models.entries()) found[i].push(await measure(model));
    }
    const ratio = median(found[1].map((speed, round) => speed / found[0][round]));
    const shown = runtimes.map((runtime, i) => `${runtime} ${Math.max(...found[i]).toFixed(1)}`);
    console.log(`  ${name.padEnd(18)} ${shown.join('   ')}   x ${ratio.toFixed(2)}`);
  }
  for (const model of models) await model.close();
}
