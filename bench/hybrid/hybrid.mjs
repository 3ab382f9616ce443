// Hybrid search against the sum of its legs: the same queries in the three modes, interleaved query by query, one caller from
// JavaScript. Texts are the first chunks of corpus-large, queries are 3 to 6 words of a chunk; vectors are generated
// ("latent" of vector/sets.mjs), and a query's vector has nothing to do with its words, so the two legs rarely agree: the
// costly case for fusion.
//
//   node hybrid/hybrid.mjs [--rows N] [--dimension N] [--seed N] [--queries N] [--top-k N]
//
// Caveat: the legs are measured as searches of their own with the same top_k; inside a hybrid search each leg goes deeper
// (max(50, 4 top_k) candidates), which its time includes.
import { createReadStream, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import { median, quantile, Random } from '../harness/numbers.mjs';
import { printTable, writeResults } from '../harness/report.mjs';
import { Storage } from '../lorekeep.mjs';
import { baseRows, queryRows, vectorSet } from '../vector/sets.mjs';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    dimension: { type: 'string', default: '384' },
    queries: { type: 'string', default: '500' },
    seed: { type: 'string', default: '7' },
    'top-k': { type: 'string', default: '10' },
  },
});
const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const corpus = resolve(process.env.LOREKEEP_DATA ?? resolve(root, '../shared/data'), 'corpus-large.jsonl.gz');
if (!existsSync(corpus)) {
  console.log(`bench/hybrid: left out, ${corpus} is absent; LOREKEEP_DATA names its folder`);
  process.exit(0);
}
const topK = Number(options['top-k']);
const set = vectorSet('latent', {
  rows: Number(options.rows),
  dimension: Number(options.dimension),
  queries: Number(options.queries),
  seed: Number(options.seed),
});
const random = new Random(set.seed + 1);
const texts = await readTexts(set.rows);
const records = texts.map((text, i) => ({ id: String(i), text }));
const storage = await Storage.build(records, baseRows(set), set.dimension);
const queries = Array.from({ length: set.queries }, (_, i) => ({
  text: wordsOf(texts[random.integer(texts.length)]),
  vector: queryRows(set).subarray(i * set.dimension, (i + 1) * set.dimension),
}));
console.log(`${set.rows} records of ${set.dimension} dimensions, ${set.queries} queries, seed ${set.seed}\n`);

const modes = ['dense', 'lexical', 'hybrid'];
const wall = Object.fromEntries(modes.map((mode) => [mode, []]));
const cpu = Object.fromEntries(modes.map((mode) => [mode, []]));
for (const [round, query] of [...queries.slice(0, 50), ...queries].entries()) {
  for (const mode of modes) {
    const used = process.cpuUsage();
    const begin = process.hrtime.bigint();
    await storage.search({ mode, topK, ...query });
    const micros = Number(process.hrtime.bigint() - begin) / 1000;
    const { user, system } = process.cpuUsage(used);
    if (round < 50) continue; // warming up
    wall[mode].push(micros);
    cpu[mode].push(user + system);
  }
}
await storage.close();

const rows = modes.map((mode) => ({
  mode,
  'p50 µs': Math.round(median(wall[mode])),
  'p99 µs': Math.round(quantile(wall[mode], 0.99)),
  'CPU p50 µs': Math.round(median(cpu[mode])),
}));
const sums = wall.dense.map((dense, i) => wall.hybrid[i] / (dense + wall.lexical[i]));
const cpuSums = cpu.dense.map((dense, i) => cpu.hybrid[i] / (dense + cpu.lexical[i]));
printTable(rows);
console.log(
  `\nhybrid / (dense + lexical), median over queries: ${median(sums).toFixed(2)} by time, ${median(cpuSums).toFixed(2)} by CPU time`,
);
writeResults('hybrid', { set, topK, rows, ratio: median(sums), cpuRatio: median(cpuSums) });

async function readTexts(count) {
  const found = [];
  const lines = createInterface({ input: createReadStream(corpus).pipe(createGunzip()) });
  for await (const line of lines) {
    found.push(JSON.parse(line).text);
    if (found.length === count) break;
  }
  return found;
}

function wordsOf(text) {
  const words = text.split(/\s+/).filter((word) => /^[A-Za-z]{3,}$/.test(word));
  const count = 3 + random.integer(4);
  return Array.from({ length: count }, () => words[random.integer(Math.max(1, words.length))] ?? 'data').join(
    ' ',
  );
}
