// Embedding beside node-llama-cpp and llama-server, on the same files: texts per second of many in one go, and the time of
// one query, for texts of several lengths and weights of several types.
//
//   node embedding/peers.mjs [--shapes a,b] [--types F32,F16,Q8_0] [--tokens 16,120,450] [--texts N] [--rounds N]
//                            [--contexts N] [--threads N] [--server PROGRAM] [--neighbour]
//
// The models have random weights in the shapes of all-MiniLM-L6 and bge-small; what they compute means nothing, and takes as long.
// Contestants take turns, round by round; medians count, by the clock and by the processor time of the whole process: beside
// other programs only the second can be compared. The cosine is the least to what llama.cpp makes of the F32 file. --contexts and
// --threads are node-llama-cpp's: two contexts of one thread are its best on two cores; one of two threads collapses as soon as
// anything else runs. --server names a llama-server to take part. --neighbour repeats each measurement beside a spinning process.
import { spawn } from 'node:child_process';
import { cached } from '../harness/cache.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { leastCosine } from './cosine.mjs';
import { modelFile, shapes, textsOf } from './models.mjs';

const queries = 50;
const shortTokens = 16;
const fewestTexts = 32;
const compared = 8;
const ours = 'lorekeep';
const module = (name) => new URL(`contestants/${name}.mjs`, import.meta.url);

const defaults = {
  shapes: Object.keys(shapes).join(),
  types: 'F32,F16,Q8_0',
  tokens: '16,120,450',
  texts: 2000,
  rounds: 3,
  contexts: 2,
  threads: 1,
  server: '',
  neighbour: false,
};

await runTrial('embedding', defaults, async (options) => {
  const [leftOut, failed, tables] = [[], [], []];
  for (const shape of options.shapes.split(',')) {
    if (!shapes[shape]) throw new Error(`--shapes ${shape}: there are ${Object.keys(shapes).join(', ')}`);
    for (const type of options.types.split(',')) {
      const contestants = await Contestants.start(await listOf(shape, type, options));
      for (const tokens of options.tokens.split(',').map(Number)) {
        tables.push(await measureLength({ shape, type, tokens }, contestants, options));
      }
      contestants.end();
      for (const one of contestants.leftOut)
        if (!leftOut.some(({ name }) => name === one.name)) leftOut.push(one);
      failed.push(...contestants.failed);
    }
  }
  const data =
    'models with random weights (seed 3) and a vocabulary of 30,522 words, texts of random words of it (seed 2)';
  return { data, tables, leftOut, failed };
});

async function listOf(shape, type, { contexts, threads, server }) {
  const model = await modelFile(cached('models'), shape, type);
  const pooling = shapes[shape].pooling === 1 ? 'mean' : 'cls';
  const asked = { model, contexts, threads };
  const list = [
    { name: ours, module: module('lorekeep'), options: { model }, peer: false },
    { name: `node-llama-cpp ${contexts} x ${threads}`, module: module('node-llama-cpp'), options: asked },
  ];
  const served = { model, program: server, threads: contexts * threads, pooling };
  if (server) list.push({ name: 'llama-server', module: module('llama-server'), options: served });
  return list;
}

async function measureLength(about, contestants, options) {
  // Longer texts in proportion, so that every length takes about as long.
  const count = Math.max(fewestTexts, Math.round((options.texts * shortTokens) / about.tokens));
  const texts = textsOf(count, about.tokens);
  const exact = await exactRows(about.shape, texts.slice(0, compared));
  const quiet = await measure(contestants, texts, options.rounds);
  const busy = options.neighbour
    ? await besideNeighbour(() => measure(contestants, texts, options.rounds))
    : new Map();
  return table({ ...about, count }, quiet, busy, exact);
}

/** What llama.cpp makes of the F32 file. */
async function exactRows(shape, texts) {
  const model = await modelFile(cached('models'), shape, 'F32');
  const given = { model, load: { runtime: 'llama.cpp' } };
  const exact = await Contestants.start([
    { name: 'exact', module: module('lorekeep'), options: given, peer: false },
  ]);
  const { rows } = await exact.call('exact', 'bulk', texts);
  exact.end();
  return rows;
}

/** By name: {perSecond, cpu, query, rows}, times in milliseconds. */
async function measure(contestants, texts, rounds) {
  const measured = new Map(contestants.names.map((name) => [name, { bulk: [], each: [] }]));
  const warm = texts.slice(0, fewestTexts);
  await contestants.each(
    'bulk',
    () => warm,
    () => {},
  );
  for (let round = 0; round < rounds; round++) {
    await contestants.each(
      'bulk',
      () => texts,
      (name, timed) => measured.get(name).bulk.push(timed),
    );
    await contestants.each(
      'each',
      () => texts.slice(0, queries),
      (name, seconds) => measured.get(name).each.push(...seconds),
    );
  }
  const summary = ({ bulk, each }) => ({
    perSecond: texts.length / median(bulk.map(({ seconds }) => seconds)),
    cpu: (median(bulk.map(({ processor }) => processor)) / texts.length) * 1e3,
    query: median(each) * 1e3,
    rows: bulk[0].rows,
  });
  const complete = [...measured].filter(([name]) => contestants.has(name));
  return new Map(complete.map(([name, found]) => [name, summary(found)]));
}

async function besideNeighbour(work) {
  const neighbour = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  try {
    return await work();
  } finally {
    neighbour.kill();
  }
}

function table({ shape, type, tokens, count }, quiet, busy, exact) {
  const own = quiet.get(ours);
  const rows = [...quiet].map(([name, found]) => ({
    name,
    rate: found.perSecond,
    rateRatio: own.perSecond / found.perSecond,
    cpu: found.cpu,
    cpuRatio: found.cpu / own.cpu,
    query: found.query,
    queryShare: own.query / found.query,
    cosine: leastCosine(found.rows, exact),
    kept: busy.has(name) ? (100 * busy.get(name).perSecond) / found.perSecond : undefined,
  }));
  const columns = [
    { key: 'name', label: '' },
    { key: 'rate', label: 'texts/s', digits: 0 },
    { key: 'rateRatio', label: 'ours / theirs', digits: 2 },
    { key: 'cpu', label: 'CPU ms a text' },
    { key: 'cpuRatio', label: 'theirs / ours', digits: 2 },
    { key: 'query', label: 'one query, ms' },
    { key: 'queryShare', label: 'ours / theirs', digits: 2 },
    { key: 'cosine', label: 'cosine to F32', digits: 5 },
    ...(busy.size > 0 ? [{ key: 'kept', label: '% beside a neighbour', digits: 0 }] : []),
  ];
  return {
    id: `embedding-${shape}-${type}-${tokens}`,
    title: `${shape}, ${type}: ${count} texts of ${tokens} tokens`,
    columns,
    rows,
  };
}
