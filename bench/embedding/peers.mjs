// Embedding beside node-llama-cpp and llama-server, on the same files: texts per second of many in one go, and the time of
// one query, for texts of several lengths and weights of several types.
//
//   node embedding/peers.mjs [--shapes a,b] [--types F32,F16,Q8_0] [--tokens 16,120,450] [--texts 2000] [--rounds 3]
//                            [--contexts 2] [--threads 1] [--llama-server PROGRAM] [--neighbour]
//
// The models have random weights in the shapes of all-MiniLM-L6 and bge-small; what they compute means nothing, and takes as long.
// Each contestant is a process of its own, and they take turns, round by round; medians count. Ratios are given by the clock
// and by the processor time of the whole process: beside other programs only the second can be compared. `cosine` is the least
// to what llama.cpp makes of the F32 file. --contexts and --threads are node-llama-cpp's: two contexts of one thread are its best
// on two cores; one of two threads collapses as soon as anything else runs. --neighbour repeats each trial with one core taken by a spinning process.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Contestant } from '../harness/contestant.mjs';
import { median } from '../harness/numbers.mjs';
import { printTable, writeResults } from '../harness/report.mjs';
import { modelFile, shapes, textsOf } from './models.mjs';

const { values: options } = parseArgs({
  options: {
    shapes: { type: 'string', default: Object.keys(shapes).join() },
    types: { type: 'string', default: 'F32,F16,Q8_0' },
    tokens: { type: 'string', default: '16,120,450' },
    texts: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '3' },
    contexts: { type: 'string', default: '2' },
    threads: { type: 'string', default: '1' },
    'llama-server': { type: 'string', default: process.env.LLAMA_SERVER ?? '' },
    neighbour: { type: 'boolean', default: false },
  },
});
const [most, rounds] = [Number(options.texts), Number(options.rounds)];
const [contexts, threads] = [Number(options.contexts), Number(options.threads)];
const queries = 50;
const shortTokens = 16;
const folder = join(tmpdir(), 'lorekeep-bench-models');
mkdirSync(folder, { recursive: true });

const results = [];
for (const shape of options.shapes.split(',')) {
  if (!shapes[shape]) throw new Error(`--shapes: ${Object.keys(shapes).join(', ')} are there`);
  for (const type of options.types.split(',')) await trial(shape, type);
}
writeResults('embedding-peers', { options, results });

function contestantsOf(shape, model) {
  const at = (name) => new URL(`contestants/${name}.mjs`, import.meta.url);
  const pooling = shapes[shape].pooling === 1 ? 'mean' : 'cls';
  const server = options['llama-server'];
  return [
    new Contestant('lorekeep', at('lorekeep'), { model }),
    new Contestant(`node-llama-cpp, ${contexts} x ${threads}`, at('node-llama-cpp'), {
      model,
      contexts,
      threads,
    }),
    ...(server
      ? [new Contestant('llama-server', at('llama-server'), { model, program: server, threads: 2, pooling })]
      : []),
  ];
}

async function trial(shape, type) {
  const contestants = contestantsOf(shape, await modelFile(folder, shape, type));
  const facts = await contestants[0].call('facts');
  for (const tokens of options.tokens.split(',').map(Number)) {
    // Longer texts in proportion, so that every trial takes about as long.
    const count = Math.max(32, Math.round((most * shortTokens) / tokens));
    const texts = textsOf(count, tokens);
    const exact = await exactRows(shape, texts.slice(0, 8));
    const quiet = await measure(contestants, texts);
    const busy = options.neighbour ? await besideNeighbour(() => measure(contestants, texts)) : undefined;
    report({ shape, type, tokens, count, runtime: facts.runtime }, quiet, busy, exact);
  }
  for (const contestant of contestants) contestant.end();
}

/** What llama.cpp makes of the F32 file. */
async function exactRows(shape, texts) {
  const model = await modelFile(folder, shape, 'F32');
  const load = { runtime: 'llama.cpp' };
  const exact = new Contestant('exact', new URL('contestants/lorekeep.mjs', import.meta.url), {
    model,
    load,
  });
  const { rows } = await exact.call('bulk', texts);
  exact.end();
  return rows;
}

async function measure(contestants, texts) {
  const measured = contestants.map(({ name }) => ({ name, bulk: [], each: [] }));
  for (const contestant of contestants) await contestant.call('bulk', texts.slice(0, 32));
  for (let round = 0; round < rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      measured[i].bulk.push(await contestant.call('bulk', texts));
      measured[i].each.push(...(await contestant.call('each', texts.slice(0, queries))));
    }
  }
  return measured.map(({ name, bulk, each }) => ({
    name,
    perSecond: texts.length / median(bulk.map(({ seconds }) => seconds)),
    processorMs: (median(bulk.map(({ processor }) => processor)) / texts.length) * 1e3,
    queryMs: median(each) * 1e3,
    rows: bulk[0].rows,
  }));
}

async function besideNeighbour(work) {
  const neighbour = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  try {
    return await work();
  } finally {
    neighbour.kill();
  }
}

function report(about, quiet, busy, exact) {
  const { shape, type, tokens, count, runtime } = about;
  console.log(`\n${shape} ${type}, ${count} texts of ${tokens} tokens (lorekeep runs ${runtime})\n`);
  const [own] = quiet;
  const rows = quiet.map((entry, i) => ({
    '': entry.name,
    'texts/s': entry.perSecond.toFixed(0),
    'ours/theirs': (own.perSecond / entry.perSecond).toFixed(2),
    'CPU ms/text': entry.processorMs.toFixed(2),
    'by CPU': (entry.processorMs / own.processorMs).toFixed(2),
    'one query, ms': entry.queryMs.toFixed(2),
    'share of theirs': (own.queryMs / entry.queryMs).toFixed(2),
    cosine: leastCosine(entry.rows, exact).toFixed(5),
    ...(busy && { 'beside a neighbour': `${Math.round((100 * busy[i].perSecond) / entry.perSecond)} %` }),
  }));
  printTable(rows);
  const numbers = (measured) => measured?.map(({ rows: _, ...rest }) => rest);
  results.push({ ...about, quiet: numbers(quiet), busy: numbers(busy) });
}

function leastCosine(found, exact) {
  const cosine = (a, b) => {
    const [ab, aa, bb] = a.reduce(
      ([x, y, z], value, i) => [x + value * b[i], y + value * value, z + b[i] * b[i]],
      [0, 0, 0],
    );
    return ab / Math.sqrt(aa * bb);
  };
  return Math.min(...found.map((row, i) => cosine(row, exact[i])));
}
