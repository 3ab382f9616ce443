// How fast a small embedding model is: texts per second in bulk, and one query at a time, through the package.
//
//   node bench/embedding/mini.mjs [--model FILE] [--texts 20000] [--threads 0] [--rounds 5]
//
// The texts are the hand-made questions and answers of bench/quality (about eight words each), each varied by a number so that
// no two are the same. Each round is stated by the clock and by processor time; beside other programs the second is
// what the machine could do, so texts per processor second times cores is stated too. The best round counts.
import { availableParallelism, cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { commandLine } from '../harness/command-line.mjs';
import { EmbeddingModel } from '../lorekeep.mjs';
import { readPairs } from '../quality/pairs.mjs';

const { values: options } = commandLine({
  options: {
    model: {
      type: 'string',
      default: fileURLToPath(new URL('../../data/models/lorekeep-mini.gguf', import.meta.url)),
    },
    texts: { type: 'string', default: '20000' },
    threads: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '5' },
  },
});
const queries = 2000;
const count = Number(options.texts);
const lines = readPairs().flatMap(({ query, text }) => [query, text]);
const texts = Array.from({ length: count }, (_, i) => `${lines[i % lines.length]} ${i}`);

const loading = performance.now();
const model = await EmbeddingModel.load(options.model, { threads: Number(options.threads) });
const loaded = performance.now() - loading;
const { tokens } = await model.embedSettled(texts);

const rounds = [];
for (let round = 0; round < Number(options.rounds); round++) {
  const before = process.cpuUsage();
  const started = performance.now();
  await model.embed(texts);
  const clock = (performance.now() - started) / 1e3;
  const { user, system } = process.cpuUsage(before);
  rounds.push({ clock, processor: (user + system) / 1e6 });
}
const times = [];
for (let i = 0; i < queries; i++) {
  const started = performance.now();
  await model.embed(lines[i % lines.length]);
  times.push(performance.now() - started);
}
await model.close();

const best = (name) => Math.min(...rounds.map((round) => round[name]));
times.sort((a, b) => a - b);
const percentile = (share) => times[Math.floor(share * (times.length - 1))].toFixed(2);
const cores = Number(options.threads) || availableParallelism();
console.log(`${cpus()[0].model}, ${cores} threads; ${count} texts of ${(tokens / count).toFixed(1)} tokens`);
console.log(`load              ${loaded.toFixed(0)} ms`);
console.log(`bulk, clock       ${(count / best('clock')).toFixed(0)} texts/s`);
console.log(
  `bulk, processor   ${((best('processor') / count) * 1e6).toFixed(0)} us a text: ` +
    `${((count / best('processor')) * cores).toFixed(0)} texts/s on ${cores} free cores`,
);
console.log(
  `one query         p50 ${percentile(0.5)} ms, p90 ${percentile(0.9)} ms, p99 ${percentile(0.99)} ms`,
);
