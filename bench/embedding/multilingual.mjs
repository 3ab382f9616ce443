// multilingual-e5-small (or another file) on XQuAD: passages and questions, every runtime of this machine in turns on one thread.
// The ratio to llama.cpp is the median over the rounds, of processor time, which neighbours disturb least. Also the time of a load in
// a process of its own and its resident memory after use; the median of some. Caveat: a load of a file that is not cached reads it.
//
//   LOREKEEP_DATA=FOLDER node bench/embedding/multilingual.mjs --model FILE.gguf [--language de] [--passages 40] [--questions 100]
//     [--rounds 7] [--runtimes llama.cpp,avx2,...] [--loads 5]
//
// With LOREKEEP_KERNELS=avx2 LOREKEEP_CPU_PLUGIN=libggml-cpu-haswell.so all of it, llama.cpp too, keeps to AVX2.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { OptionError } from '../harness/command-line.mjs';
import { residentBytes } from '../harness/memory.mjs';
import { runTrial } from '../harness/trial.mjs';
import { EmbeddingModel, LorekeepError } from '../lorekeep.mjs';
import { readCollection } from '../quality/collections.mjs';

const ownPath = fileURLToPath(import.meta.url);
const defaults = {
  model: '',
  language: 'de',
  passages: 40,
  questions: 100,
  rounds: 7,
  runtimes: 'llama.cpp,avx2,avx512,avx512-bf16,amx-bf16,avx512-vnni',
  loads: 5,
};
const mebibyte = 1024 * 1024;

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

if (process.argv[2] === 'load') await oneLoad(...process.argv.slice(3));
else
  await runTrial('embedding-multilingual', defaults, async (options) => {
    if (options.model === '') throw new OptionError('--model: a file is expected');
    const { documents, queries } = readCollection(`xquad-${options.language}`);
    const kinds = {
      passages: documents.slice(0, options.passages).map(({ text }) => `passage: ${text.slice(0, 1200)}`),
      questions: queries.slice(0, options.questions).map(({ text }) => `query: ${text}`),
    };
    const models = await loadAll(options);
    const rows = [];
    for (const [kind, texts] of Object.entries(kinds))
      rows.push(...(await turns(models, kind, texts, options.rounds)));
    for (const model of models.values()) await model.close();
    const loads = [...models.keys()].map((runtime) => loadRow(options, runtime));
    return {
      data: `XQuAD ${options.language}: ${options.passages} passages, ${options.questions} questions; ${options.model}`,
      tables: [speedTable(rows), loadTable(loads)],
    };
  });

async function loadAll({ model, runtimes }) {
  const models = new Map();
  for (const runtime of runtimes.split(',')) {
    try {
      models.set(runtime, await EmbeddingModel.load(model, { runtime, threads: 1 }));
    } catch (error) {
      if (!(error instanceof LorekeepError && error.code === 'INVALID_ARGUMENT')) throw error;
    }
  }
  return models;
}

async function turns(models, kind, texts, rounds) {
  const seconds = new Map([...models.keys()].map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, model] of models) {
      const before = process.cpuUsage();
      await model.embed(texts);
      const { user, system } = process.cpuUsage(before);
      seconds.get(name).push((user + system) / 1e6 / texts.length);
    }
  }
  const llama = seconds.get('llama.cpp');
  return [...seconds].map(([runtime, own]) => ({
    kind,
    runtime,
    perSecond: 1 / median(own),
    ratio: llama === undefined ? undefined : median(own.map((each, i) => llama[i] / each)),
  }));
}

function loadRow({ model, loads }, runtime) {
  const found = Array.from({ length: loads }, () =>
    JSON.parse(execFileSync(process.execPath, [ownPath, 'load', model, runtime], { encoding: 'utf8' })),
  );
  const of = (name) => median(found.map((each) => each[name]));
  return {
    runtime,
    ms: of('ms'),
    cpuMs: of('cpuMs'),
    all: of('all'),
    before: of('before'),
    after: of('after'),
  };
}

/** Loads the model in this process and embeds a few texts; prints what it took. */
async function oneLoad(path, runtime) {
  const before = residentBytes().all;
  const [wall, used] = [performance.now(), process.cpuUsage()];
  const model = await EmbeddingModel.load(path, runtime === 'auto' ? {} : { runtime });
  const { user, system } = process.cpuUsage(used);
  const ms = performance.now() - wall;
  const after = residentBytes().all;
  const { documents } = readCollection('xquad-de');
  await model.embed(documents.slice(0, 8).map(({ text }) => `passage: ${text.slice(0, 1200)}`));
  const { all } = residentBytes();
  process.stdout.write(JSON.stringify({ ms, cpuMs: (user + system) / 1e3, before, after, all }));
  await model.close();
}

function speedTable(rows) {
  const columns = [
    { key: 'kind', label: 'texts' },
    { key: 'runtime', label: 'runtime' },
    { key: 'perSecond', label: 'texts/s of a thread', digits: 1 },
    { key: 'ratio', label: 'of llama.cpp', digits: 2 },
  ];
  return { id: 'embedding-multilingual', title: 'Speed', columns, rows };
}

function loadTable(found) {
  const columns = [
    { key: 'runtime', label: 'runtime' },
    { key: 'ms', label: 'load, ms', digits: 0 },
    { key: 'cpuMs', label: 'load, CPU ms', digits: 0 },
    { key: 'before', label: 'MiB before', digits: 0 },
    { key: 'after', label: 'after the load', digits: 0 },
    { key: 'all', label: 'after use', digits: 0 },
  ];
  const inMebibytes = ({ before, after, all, ...row }) => ({
    ...row,
    before: before / mebibyte,
    after: after / mebibyte,
    all: all / mebibyte,
  });
  return { id: 'embedding-multilingual-load', title: 'Loading', columns, rows: found.map(inMebibytes) };
}
