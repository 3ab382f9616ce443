// Cost of a call beyond the search itself, for one caller from JavaScript: the whole process's CPU time and the wall time of
// one call at a time, from a call that finds the only row, on this thread and on another, to hits with text and ten fields.
//
//   node call/cost.mjs [--library FOLDER]... [--rows N] [--calls N] [--rounds N]
//
// Libraries are folders that hold a build (dist/ and build/Release/); several are measured in turns, each time in a process
// of their own, and compared with the first. Caveats: generated rows; the search in it is that of a small or warm index; the walk
// alone is what a query costs among 64 in one call, on two threads.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { commandLine } from '../harness/command-line.mjs';
import { median, Random } from '../harness/numbers.mjs';
import { terminalTable } from '../harness/table.mjs';

const { values: options } = commandLine({
  options: {
    library: { type: 'string', multiple: true, default: [fileURLToPath(new URL('../..', import.meta.url))] },
    rows: { type: 'string', default: '20000' },
    calls: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '5' },
    once: { type: 'boolean', default: false },
  },
});
const dimension = 384;
const fieldCount = 10;
const seed = 7;

if (options.once) {
  console.log(JSON.stringify(await measure(options.library[0])));
} else {
  compare();
}

/** µs of CPU and of wall time per call, by trial. */
async function measure(folder) {
  const { Storage, VectorIndex } = await import(pathToFileURL(resolve(folder, 'dist/lib/index.js')));
  const random = new Random(seed);
  const rows = Number(options.rows);
  const numbers = Float32Array.from({ length: rows * dimension }, () => random.uniform() - 0.5);
  const queries = Array.from({ length: 256 }, () =>
    Float32Array.from({ length: dimension }, () => random.uniform() - 0.5),
  );
  const records = Array.from({ length: rows }, (_, i) => ({
    id: `record-${i}`,
    text: `The text of record ${i}, as long as a short sentence of some chunk would be, word ${i % 97}.`,
    metadata: Object.fromEntries(Array.from({ length: fieldCount }, (_, f) => [`field${f}`, i % (f + 2)])),
  }));
  const fields = Array.from({ length: fieldCount }, (_, f) => ({
    name: `field${f}`,
    type: 'int',
    optional: true,
  }));
  const tiny = await VectorIndex.build(numbers.slice(0, dimension), dimension, { kind: 'flat' });
  const index = await VectorIndex.build(numbers, dimension, { efConstruction: 40 });
  const plain = await Storage.build(records, numbers, dimension, { efConstruction: 40 });
  const typed = await Storage.build(records, numbers, dimension, { efConstruction: 40, fields });
  const rare = typed.compileFilter({ '<': [{ knowledge: 'field9' }, 0] });
  const { signal } = new AbortController();
  const query = (i) => queries[i % queries.length];
  const trials = {
    'nothing: an async function': async () => {},
    'index of 1 row': (i) => tiny.search(query(i), { k: 1 }),
    'index of 1 row, on another thread': (i) => tiny.search(query(i), { k: 1, exact: true }),
    'the walk alone, 10 hits, ef 32': async (i) => {
      if (i % 64 === 0) await index.searchMany(batch, { k: 10, ef: 32 });
    },
    'index, 10 hits, ef 32': (i) => index.search(query(i), { k: 10, ef: 32 }),
    'storage, 1 hit, ef 32': (i) => plain.search({ vector: query(i), topK: 1, ef: 32 }),
    'storage, 10 hits, ef 32': (i) => plain.search({ vector: query(i), topK: 10, ef: 32 }),
    'storage, 10 hits, ef 32, signal': (i) => plain.search({ vector: query(i), topK: 10, ef: 32, signal }),
    'storage, 10 hits of 10 fields': (i) => typed.search({ vector: query(i), topK: 10, ef: 32 }),
    'storage, filter that nothing passes': (i) => typed.search({ vector: query(i), topK: 10, filter: rare }),
    'storage, lexical, 10 hits': (i) => plain.search({ mode: 'lexical', text: `record ${i} word`, topK: 10 }),
    'storage, hybrid, 10 hits': (i) =>
      plain.search({ mode: 'hybrid', vector: query(i), text: `record ${i} word`, topK: 10 }),
  };
  const batch = new Float32Array(64 * dimension);
  for (let i = 0; i < 64; i++) batch.set(queries[i], i * dimension);
  const results = {};
  const calls = Number(options.calls);
  for (const [name, call] of Object.entries(trials)) {
    for (let i = 0; i < calls; i++) await call(i);
    const cpu = process.cpuUsage();
    const begin = process.hrtime.bigint();
    for (let i = 0; i < calls; i++) await call(i);
    const wall = Number(process.hrtime.bigint() - begin) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    results[name] = { cpu: (user + system) / calls, wall: wall / calls };
  }
  return results;
}

function compare() {
  const runs = options.library.map(() => []);
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const [i, folder] of options.library.entries()) {
      const args = ['--once', '--library', folder, '--rows', options.rows, '--calls', options.calls];
      const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...args], {
        encoding: 'utf8',
      });
      if (child.status !== 0) throw new Error(child.stderr);
      runs[i].push(JSON.parse(child.stdout));
    }
  }
  const rows = Object.keys(runs[0][0]).map((trial) => {
    const row = { trial };
    for (const [i, of] of runs.entries()) {
      for (const what of ['cpu', 'wall']) {
        const middle = median(of.map((run) => run[trial][what]));
        const ratio = middle / median(runs[0].map((run) => run[trial][what]));
        row[`${what} µs ${i + 1}`] = middle.toFixed(1) + (i > 0 ? ` (${ratio.toFixed(2)})` : '');
      }
    }
    return row;
  });
  const columns = Object.keys(rows[0]).map((key) => ({ key, label: key }));
  console.log(terminalTable({ title: 'Cost of a call', columns, rows }));
}
