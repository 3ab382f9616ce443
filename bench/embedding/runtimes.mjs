// Every runtime of this machine on the same models, in turns: milliseconds of processor time a text, the best of the rounds, which
// neighbours disturb least, and the least cosine to what llama.cpp makes of the F32 file. One thread, one process.
//
//   node embedding/runtimes.mjs [--shapes all-MiniLM-L6,bge-small] [--types F32,Q8_0] [--tokens 16,120,450] [--texts N] [--rounds N]
//     [--runtimes llama.cpp,avx2,...]
import { mkdirSync } from 'node:fs';
import { cached } from '../harness/cache.mjs';
import { runTrial } from '../harness/trial.mjs';
import { EmbeddingModel, LorekeepError } from '../lorekeep.mjs';
import { minCosine } from './cosine.mjs';
import { modelFile, shapes, textsOf } from './models.mjs';

const shortTokens = 16;
const fewestTexts = 4;
const msPerSecond = 1000;
const defaults = {
  shapes: Object.keys(shapes).join(),
  types: 'F32,Q8_0',
  tokens: '16,120,450',
  texts: 128,
  rounds: 7,
  runtimes: 'llama.cpp,avx2,avx512,avx512-bf16,amx-bf16,avx512-vnni',
};

await runTrial('embedding-runtimes', defaults, async (options) => {
  const folder = cached('models');
  mkdirSync(folder, { recursive: true });
  const rows = [];
  for (const shape of options.shapes.split(',')) {
    const exact = await loaded(await modelFile(folder, shape, 'F32'), 'llama.cpp');
    for (const type of options.types.split(',')) {
      const models = await loadedAll(await modelFile(folder, shape, type), options.runtimes.split(','));
      for (const tokens of options.tokens.split(',').map(Number)) {
        const count = Math.max(fewestTexts, Math.round((options.texts * shortTokens) / tokens));
        const texts = textsOf(count, tokens);
        const expected = await vectors(exact, texts);
        for (const [name, model] of models) {
          const cosine = minCosine(await vectors(model, texts), expected);
          rows.push({ model: `${shape} ${type}`, tokens, name, cosine, seconds: Number.POSITIVE_INFINITY });
        }
        await turns(models, texts, options.rounds, rows.slice(-models.size));
      }
      for (const model of models.values()) await model.close();
    }
    await exact.close();
  }
  return {
    data: 'random weights in the shapes of the models, texts of made-up words',
    tables: [table(rows)],
  };
});

/** Undefined where the processor does not have it, or the file is none that it takes. */
async function loaded(path, runtime) {
  try {
    return await EmbeddingModel.load(path, { runtime, threads: 1 });
  } catch (error) {
    if (error instanceof LorekeepError && error.code === 'INVALID_ARGUMENT') return undefined;
    throw error;
  }
}

async function loadedAll(path, names) {
  const models = new Map();
  for (const name of names) {
    const model = await loaded(path, name);
    if (model) models.set(name, model);
  }
  return models;
}

async function vectors(model, texts) {
  const all = await model.embed(texts);
  return texts.map((_, i) => all.subarray(i * model.dimension, (i + 1) * model.dimension));
}

async function turns(models, texts, rounds, rows) {
  for (let round = 0; round < rounds; round++) {
    for (const [i, model] of [...models.values()].entries()) {
      const before = process.cpuUsage();
      await model.embed(texts);
      const { user, system } = process.cpuUsage(before);
      rows[i].seconds = Math.min(rows[i].seconds, (user + system) / 1e6 / texts.length);
    }
  }
}

function table(rows) {
  const columns = [
    { key: 'model', label: 'model' },
    { key: 'tokens', label: 'tokens a text', digits: 0 },
    { key: 'name', label: 'runtime' },
    { key: 'ms', label: 'CPU ms/text' },
    { key: 'cosine', label: 'cosine to F32', digits: 5 },
  ];
  return {
    id: 'embedding-runtimes',
    title: 'Runtimes',
    columns,
    rows: rows.map((row) => ({ ...row, ms: row.seconds * msPerSecond })),
  };
}
