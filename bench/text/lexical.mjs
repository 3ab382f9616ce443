// Speed of lexical search: top 10, queries of 3 to 6 words, one caller from JavaScript. Every engine has a process of its own; they
// build one after the other and answer in turns, so that a busy machine is busy for all.
//
//   node text/lexical.mjs [--documents 100000] [--rounds 5] [--seconds 2] [--engines lorekeep,lancedb]
//
// Caveats: lorekeep builds on all cores, the peers as they do by default; LanceDB's build is its createIndex() alone, the table
// being written before; the peers keep their texts or columns as well, which is not measured.
import { Contestants } from '../harness/contestants.mjs';
import { median, quantile } from '../harness/numbers.mjs';
import { textSource } from '../harness/texts.mjs';
import { runTrial } from '../harness/trial.mjs';

const queries = 5000;
const warmUpMs = 500;
// A build that hangs must not cost the trial.
const buildLimitSeconds = 180;
// On two cores LanceDB's index build waits for itself for ever with its default number of threads.
const lanceEnv = { LANCE_CPU_THREADS: '8', LANCE_FTS_NUM_SHARDS: '2' };
const engines = [
  { name: 'lorekeep basic', engine: 'lorekeep', options: { tokenizer: 'basic' }, peer: false },
  { name: 'lorekeep enhanced', engine: 'lorekeep', options: { tokenizer: 'enhanced' }, peer: false },
  { name: 'lorekeep multilingual', engine: 'lorekeep', options: { tokenizer: 'multilingual' }, peer: false },
  { name: 'LanceDB', engine: 'lancedb', env: lanceEnv },
  { name: 'SQLite FTS5', engine: 'sqlite' },
  { name: 'MiniSearch', engine: 'minisearch' },
];

await runTrial('lexical', { documents: 100_000, rounds: 5, seconds: 2, engines: '' }, async (options) => {
  const { documents, rounds, seconds } = options;
  const wanted = options.engines.toLowerCase().split(',');
  const list = engines
    .filter(({ name }) => wanted.some((part) => name.toLowerCase().includes(part)))
    .map(({ engine, options: settings, ...rest }) => ({
      ...rest,
      module: new URL('contestant.mjs', import.meta.url),
      options: { engine, options: settings, documents, queries },
    }));
  const contestants = await Contestants.start(list);
  const results = new Map();
  await contestants.each(
    'build',
    () => ({}),
    (name, built) => {
      console.log(`${name}: built in ${(built.buildMs / 1000).toFixed(1)} s`);
      results.set(name, { name, ...built, rounds: [] });
    },
    buildLimitSeconds,
  );
  const warmUp = () => ({ ms: warmUpMs });
  await contestants.each('ask', warmUp, () => {});
  for (let round = 0; round < rounds; round++) {
    console.log(`round ${round + 1} of ${rounds}`);
    const asked = () => ({ ms: seconds * 1000 });
    await contestants.each('ask', asked, (name, answered) => results.get(name).rounds.push(answered));
  }
  await contestants.each(
    'close',
    () => ({}),
    () => {},
  );
  contestants.end();
  return report(documents, [...results.values()], contestants);
});

function summary({ name, buildMs, buildCpuMs, openMs, firstQueryMs, rounds }) {
  if (rounds.length === 0) return undefined;
  const latencies = rounds.flatMap((round) => round.latencies);
  return {
    name,
    rate: median(rounds.map((round) => (round.latencies.length / round.wallMs) * 1000)),
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpu: rounds.reduce((sum, round) => sum + round.cpuMs, 0) / latencies.length,
    build: buildMs / 1000,
    buildCpu: buildCpuMs / 1000,
    open: openMs,
    openAndQuery: firstQueryMs,
    queries: latencies.length,
  };
}

function report(documents, results, { leftOut, failed }) {
  const rows = results.map(summary).filter(Boolean);
  for (const row of rows) row.ratio = rows[0].rate / row.rate;
  const columns = [
    { key: 'name', label: '' },
    { key: 'rate', label: 'queries/s' },
    { key: 'ratio', label: 'basic / this', digits: 2 },
    { key: 'p50', label: 'p50 ms', digits: 3 },
    { key: 'p99', label: 'p99 ms', digits: 3 },
    { key: 'cpu', label: 'CPU ms/query', digits: 3 },
    { key: 'build', label: 'build s', digits: 2 },
    { key: 'buildCpu', label: 'build CPU s', digits: 2 },
    { key: 'open', label: 'open ms' },
    { key: 'openAndQuery', label: 'open + query ms' },
  ];
  const failures = failed.map(({ name, reason }) => ({ name, failed: reason }));
  const data = `${documents} ${textSource()}`;
  const title = 'Lexical search, top 10';
  const table = { id: 'lexical', title, columns, rows: [...rows, ...failures] };
  return { data, tables: [table], leftOut, failed };
}
