// Embedding beside node-llama-cpp and llama-server, on the same files: texts per second of many in one go, and the time of
// one text, for texts of several lengths and weights of several types; and throughput against the number of texts in one call.
//
//   node embedding/peers.mjs [--shapes all-MiniLM-L6,bge-small] [--types F32,F16,Q8_0] [--tokens 16,120,450] [--texts N]
//     [--rounds N] [--cores 2] [--server PROGRAM] [--neighbour] [--peers node-llama-cpp,llama-server]
//
// The models have random weights in the shapes of all-MiniLM-L6 and bge-small; what they compute means nothing, and takes as long. Longer
// texts are fewer, in proportion, so that each length takes about as long. Each contestant is a process of its own, and they take
// turns, round by round; medians count. A peer has several configurations for this number of cores: for each length and weight type
// all are tried, and the best for many texts and the best for one take part. `cosine` is the least to what llama.cpp makes of the F32 file.
// --server (or LLAMA_SERVER) names llama-server, else the server built by `npm run setup:llama-server` takes part; without one that peer is
// left out. --neighbour repeats the shortest length of each model with one core taken by a spinning process.
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { cached } from '../harness/cache.mjs';
import { OptionError } from '../harness/command-line.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { bestConfigurations } from './configurations.mjs';
import { minCosine } from './cosine.mjs';
import { findServer } from './llama-server.mjs';
import { modelFile, shapes, textsOf } from './models.mjs';
import { report } from './report.mjs';

const shortTokens = 16;
/** Tokens that a round asks one text at a time. */
const queryTokens = 400;
const fewestQueries = 5;
const fewestTexts = 16;
const warmUp = 4;
const batchSizes = [1, 4, 16, 64, 256];
const fewestPerPoint = 32;
const defaults = {
  shapes: Object.keys(shapes).join(),
  types: 'F32,F16,Q8_0',
  tokens: '16,120,450',
  texts: 2000,
  rounds: 3,
  cores: 2,
  server: findServer() ?? '',
  neighbour: false,
  peers: 'node-llama-cpp,llama-server',
};

await runTrial('embedding', defaults, async (options) => {
  const folder = cached('models');
  mkdirSync(folder, { recursive: true });
  const result = { rows: [], curves: [], leftOut: [], failed: [] };
  if (!options.server && options.peers.includes('llama-server'))
    result.leftOut.push({
      name: 'llama-server',
      reason: '`npm run setup:llama-server` in bench/ builds it, or LLAMA_SERVER names the program',
    });
  for (const shape of options.shapes.split(',')) {
    if (!shapes[shape])
      throw new OptionError(`--shapes ${shape}: ${Object.keys(shapes).join(', ')} are there`);
    for (const type of options.types.split(',')) await measureModel(folder, shape, type, options, result);
  }
  rmSync(cached('embedding-settings'), { recursive: true, force: true });
  return report(options, result);
});

function contestantsOf(shape, model, { cores, server: program, peers }) {
  const module = (name) => new URL(`contestants/${name}.mjs`, import.meta.url);
  // Settings are chosen anew by this build: what an older one chose may lie in the user's cache.
  const env = { LOREKEEP_CACHE: cached('embedding-settings', String(process.pid)) };
  const list = [{ name: 'lorekeep', module: module('lorekeep'), options: { model }, env, peer: false }];
  if (peers.includes('node-llama-cpp')) {
    list.push({ name: 'node-llama-cpp', module: module('node-llama-cpp'), options: { model, cores } });
  }
  if (program && peers.includes('llama-server')) {
    const pooling = shapes[shape].pooling === 1 ? 'mean' : 'cls';
    list.push({
      name: 'llama-server',
      module: module('llama-server'),
      options: { model, program, cores, pooling },
    });
  }
  return list;
}

async function measureModel(folder, shape, type, options, result) {
  const model = await modelFile(folder, shape, type);
  const contestants = await Contestants.start(contestantsOf(shape, model, options));
  const facts = await contestants.call('lorekeep', 'facts');
  const lengths = options.tokens.split(',').map(Number);
  for (const tokens of lengths) {
    const count = Math.max(fewestTexts, Math.round((options.texts * shortTokens) / tokens));
    const texts = textsOf(count, tokens);
    const exact = await exactRows(folder, shape, texts.slice(0, 8));
    const chosen = await bestConfigurations(contestants, texts, tokens);
    const quiet = await measure(contestants, texts, chosen, tokens, options.rounds);
    const busy =
      options.neighbour &&
      tokens === Math.min(...lengths) &&
      (await besideNeighbour(() => measure(contestants, texts, chosen, tokens, options.rounds)));
    const about = { model: `${shape} ${type}`, tokens, texts: count, runtime: facts?.runtime };
    result.rows.push(...rowsOf(about, quiet, busy, exact));
    console.log(`${about.model}, ${tokens} tokens: measured`);
  }
  if (type === options.types.split(',').at(-1))
    result.curves.push(await batchCurve(shape, type, contestants, options));
  contestants.end();
  result.leftOut.push(
    ...contestants.leftOut.filter(({ name }) => !result.leftOut.some((one) => one.name === name)),
  );
  result.failed.push(...contestants.failed);
}

/** The quantised files that llama.cpp makes from the F32 file. */
async function exactRows(folder, shape, texts) {
  const options = { model: await modelFile(folder, shape, 'F32'), load: { runtime: 'llama.cpp' } };
  const module = new URL('contestants/lorekeep.mjs', import.meta.url);
  const contestants = await Contestants.start([{ name: 'exact', module, options, peer: false }]);
  const found = await contestants.call('exact', 'bulk', { texts });
  contestants.end();
  if (!found) throw new Error(`the exact embeddings failed: ${contestants.failed[0].reason}`);
  return found.rows;
}

/** @param chosen of bestConfigurations() @returns name -> {perSecond, processorMs, queryMs, rows, many, one} */
async function measure(contestants, texts, chosen, tokens, rounds) {
  const measured = new Map(contestants.names.map((name) => [name, { bulk: [], each: [] }]));
  const few = texts.slice(0, Math.max(fewestQueries, Math.round(queryTokens / tokens)));
  await contestants.each(
    'bulk',
    (name) => ({ texts: texts.slice(0, warmUp), configuration: chosen.get(name).many }),
    () => {},
  ); // warming up
  for (let round = 0; round < rounds; round++) {
    await contestants.each(
      'bulk',
      (name) => ({ texts, configuration: chosen.get(name).many }),
      (name, one) => measured.get(name).bulk.push(one),
    );
    await contestants.each(
      'each',
      (name) => ({ texts: few, configuration: chosen.get(name).one }),
      (name, list) => measured.get(name).each.push(...list),
    );
  }
  const summary = ([name, { bulk, each }]) => [
    name,
    {
      perSecond: texts.length / median(bulk.map(({ seconds }) => seconds)),
      processorMs: (median(bulk.map(({ processor }) => processor)) / texts.length) * 1e3,
      queryMs: median(each) * 1e3,
      rows: bulk[0].rows,
      ...chosen.get(name),
    },
  ];
  return new Map([...measured].filter(([, { each }]) => each.length > 0).map(summary));
}

async function besideNeighbour(work) {
  const neighbour = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  try {
    return await work();
  } finally {
    neighbour.kill();
  }
}

/** Texts a second by texts in one call, short ones; small calls are repeated until they carry `fewestPerPoint`. */
async function batchCurve(shape, type, contestants, { rounds }) {
  const texts = textsOf(batchSizes.at(-1), shortTokens);
  const chosen = await bestConfigurations(contestants, texts, shortTokens);
  const rates = new Map(contestants.names.map((name) => [name, batchSizes.map(() => [])]));
  for (let round = 0; round < rounds; round++) {
    for (const [at, size] of batchSizes.entries()) {
      const repeats = Math.max(1, fewestPerPoint / size);
      const spent = new Map();
      for (let repeat = 0; repeat < repeats; repeat++) {
        await contestants.each(
          'bulk',
          (name) => ({ texts: texts.slice(0, size), configuration: chosen.get(name).many }),
          (name, { seconds }) => spent.set(name, (spent.get(name) ?? 0) + seconds),
        );
      }
      for (const [name, seconds] of spent) rates.get(name)[at].push((size * repeats) / seconds);
    }
  }
  const series = [...rates].map(([name, lists]) => ({
    name,
    points: lists.map((list, at) => ({ x: batchSizes[at], y: median(list) })).filter(({ y }) => y > 0),
  }));
  return {
    chart: 'throughput-batch',
    panel: `embedding ${shortTokens} tokens, ${shape} ${type}`,
    series,
  };
}

function rowsOf(about, quiet, busy, exact) {
  const own = quiet.get('lorekeep');
  return [...quiet].map(([name, { rows, ...numbers }]) => ({
    ...about,
    name,
    ...numbers,
    ratio: own && own.perSecond / numbers.perSecond,
    queryRatio: own && own.queryMs / numbers.queryMs,
    cosine: minCosine(rows, exact),
    beside: busy ? (busy.get(name)?.perSecond ?? 0) / numbers.perSecond : undefined,
  }));
}
