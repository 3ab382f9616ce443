// Speed of lexical search: top 10 of 100,000 chunks, queries of 3 to 6 words, one caller from JavaScript. Every engine has a
// process of its own; they build one after the other and answer in turns, so that a busy machine is busy for all.
//
//   node bench/text/run.mjs [--documents 100000] [--rounds 5] [--seconds 2] [--engines lorekeep,lancedb] [--json FILE]
//
// Caveats: lorekeep builds on all cores, the peers as they do by default; LanceDB's build is its createIndex() alone, the table
// being written before; the peers keep their texts or columns as well, which is not measured.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dataFolder } from '../quality/collections.mjs';
import { corpusPresent } from './corpus.mjs';

const names = [
  'lorekeep basic',
  'lorekeep enhanced',
  'lorekeep multilingual',
  'lancedb',
  'sqlite',
  'minisearch',
];
const queries = '5000';
const warmUpMs = 500;
// On two cores LanceDB's index build waits for itself for ever with its default number of threads.
const env = { LANCE_CPU_THREADS: '8', LANCE_FTS_NUM_SHARDS: '2', ...process.env };
const { values: options } = parseArgs({
  options: {
    documents: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    engines: { type: 'string' },
    json: { type: 'string' },
  },
});

if (!corpusPresent()) {
  console.log(
    `bench/text: left out, no corpus-large.jsonl.gz under ${dataFolder}; LOREKEEP_DATA names its folder`,
  );
  process.exit(0);
}
const wanted = options.engines?.split(',');
const results = [];
for (const name of names.filter((known) => wanted?.some((part) => known.includes(part)) ?? true)) {
  const args = [name, options.documents, queries];
  const worker = fork(fileURLToPath(new URL('worker.mjs', import.meta.url)), args, { env });
  await once(worker, 'message');
  const built = await tell(worker, 'build');
  console.error(`${name}: built in ${(built.buildMs / 1000).toFixed(1)} s`);
  results.push({ name, worker, ...built, rounds: [] });
}
for (const { worker } of results) await tell(worker, 'ask', { ms: warmUpMs });
for (let round = 0; round < Number(options.rounds); round++) {
  for (const result of results) {
    result.rounds.push(await tell(result.worker, 'ask', { ms: Number(options.seconds) * 1000 }));
  }
}
for (const { worker } of results) await tell(worker, 'close');
report(results.map(summary));

async function tell(worker, command, rest = {}) {
  worker.send({ command, ...rest });
  const [reply] = await once(worker, 'message');
  return reply;
}

function summary({ name, buildMs, buildCpuMs, openMs, rounds }) {
  const latencies = rounds.flatMap((round) => round.latencies).sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  const rates = rounds.map((round) => (round.latencies.length / round.wallMs) * 1000).sort((a, b) => a - b);
  const cpuMs = rounds.reduce((sum, round) => sum + round.cpuMs, 0) / latencies.length;
  return {
    engine: name,
    queriesPerSecond: rates[Math.floor(rates.length / 2)],
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMsPerQuery: cpuMs,
    buildMs,
    buildCpuMs,
    openMs,
    queries: latencies.length,
  };
}

function report(rows) {
  console.log(
    `${options.documents} chunks, ${cpus().length} x ${cpus()[0].model}, Node ${process.version}\n`,
  );
  const cells = (list) => console.log(`| ${list.join(' | ')} |`);
  const head = [
    'engine',
    'queries/s',
    'p50 ms',
    'p99 ms',
    'CPU ms/query',
    'build s',
    'build CPU s',
    'open ms',
  ];
  cells(head);
  cells(head.map(() => '---'));
  for (const row of rows) {
    cells([
      row.engine,
      row.queriesPerSecond.toFixed(row.queriesPerSecond < 100 ? 1 : 0),
      row.p50Ms.toFixed(3),
      row.p99Ms.toFixed(3),
      row.cpuMsPerQuery.toFixed(3),
      (row.buildMs / 1000).toFixed(2),
      (row.buildCpuMs / 1000).toFixed(2),
      row.openMs === undefined ? '' : row.openMs.toFixed(1),
    ]);
  }
  if (options.json) writeFileSync(options.json, `${JSON.stringify({ ...options, rows }, undefined, 2)}\n`);
}
