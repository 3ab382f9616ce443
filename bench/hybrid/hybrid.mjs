// Hybrid search against the sum of its legs: the same queries in the three modes, interleaved query by query, one caller from
// JavaScript; LanceDB beside it. Texts and queries as in harness/texts.mjs; vectors are generated ("latent" of vector/sets.mjs), and a
// query's vector has nothing to do with its words, so the two legs rarely agree: the costly case for fusion.
//
//   node hybrid/hybrid.mjs [--rows N[,N...]] [--dimension N] [--seed N] [--queries N] [--top-k N] [--rounds N] [--peers lancedb]
//
// A storage of each of the sizes in turn; LanceDB beside the largest alone. Caveat: the legs are measured as searches of their own with the same top_k; inside a hybrid search each leg goes deeper
// (max(50, 4 top_k) candidates), which its time includes.

import { OptionError } from '../harness/command-line.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { modes } from '../harness/modes.mjs';
import { median, quantile } from '../harness/numbers.mjs';
import { textSource } from '../harness/texts.mjs';
import { runTrial } from '../harness/trial.mjs';
import { describeSet, vectorSet } from '../vector/sets.mjs';

const module = (file) => new URL(`contestants/${file}`, import.meta.url);
const defaults = {
  rows: '3000,20000,100000',
  dimension: 384,
  queries: 500,
  seed: 7,
  'top-k': 10,
  rounds: 2,
  peers: 'lancedb',
};

await runTrial('hybrid', defaults, async (options) => {
  const sizes = options.rows.split(',').map(Number);
  if (!sizes.every((rows) => Number.isInteger(rows) && rows > 0))
    throw new OptionError(`--rows ${options.rows}: whole numbers are expected, with commas between them`);
  sizes.sort((a, b) => a - b);
  const sets = sizes.map((rows) => vectorSet('latent', { ...options, rows }));
  const measured = [];
  for (const set of sets) measured.push(await measure(set, options, set === sets.at(-1)));
  return report(sets, options['top-k'], measured);
});

/** {rows, results: name -> timings of each round, leftOut, failed} */
async function measure(set, options, besidePeers) {
  const given = { set, topK: options['top-k'] };
  const list = [{ name: 'lorekeep', module: module('lorekeep.mjs'), options: given, peer: false }];
  if (besidePeers && options.peers.split(',').includes('lancedb')) {
    const env = { LANCE_CPU_THREADS: '8', LANCE_FTS_NUM_SHARDS: '2' }; // see text/lexical.mjs
    list.push({ name: 'LanceDB', module: module('lancedb.mjs'), options: given, env });
  }
  const contestants = await Contestants.start(list);
  const results = new Map();
  await contestants.each(
    'build',
    () => ({}),
    (name, seconds) => {
      console.log(`${name}: ${set.rows} rows built in ${seconds.toFixed(1)} s`);
      results.set(name, []);
    },
  );
  for (let round = 0; round < options.rounds; round++) {
    console.log(`round ${round + 1} of ${options.rounds}`);
    await contestants.each(
      'ask',
      () => ({}),
      (name, timed) => results.get(name).push(timed),
    );
  }
  contestants.end();
  return { rows: set.rows, results, leftOut: contestants.leftOut, failed: contestants.failed };
}

function report(sets, topK, measured) {
  const rows = measured.flatMap(({ rows, results }) => summaries(rows, results));
  const columns = [
    { key: 'name', label: '' },
    { key: 'rows', label: 'rows' },
    ...modes.map((mode) => ({ key: mode, label: `${mode} p50 µs` })),
    { key: 'p99', label: 'hybrid p99 µs' },
    { key: 'cpu', label: 'hybrid CPU µs' },
    { key: 'legs', label: 'hybrid / (dense + lexical)', digits: 2 },
    { key: 'ratio', label: 'hybrid, theirs / ours', digits: 2 },
  ];
  const failed = measured.flatMap((size) => size.failed);
  const failures = failed.map(({ name, reason }) => ({ name, failed: reason }));
  const title = `Hybrid search and its legs, top ${topK}`;
  const sizes = sets.map((set) => set.rows).join(', ');
  const data = `${describeSet({ ...sets.at(-1), rows: sizes })}; ${textSource()}`;
  const leftOut = measured.flatMap((size) => size.leftOut);
  return { data, tables: [{ id: 'hybrid', title, columns, rows: [...rows, ...failures] }], leftOut, failed };
}

/** A row for each contestant that answered, ours first. */
function summaries(rows, results) {
  const answered = [...results].filter(([, rounds]) => rounds.length > 0);
  const all = answered.map(([name, rounds]) => ({ rows, ...summary(name, rounds) }));
  for (const row of all) row.ratio = row.hybrid / all[0].hybrid;
  return all;
}

function summary(name, rounds) {
  const all = (how, mode) => rounds.flatMap((round) => round[how][mode]);
  const row = { name, p99: quantile(all('wall', 'hybrid'), 0.99), cpu: median(all('cpu', 'hybrid')) };
  for (const mode of modes) row[mode] = median(all('wall', mode));
  const [dense, lexical] = [all('wall', 'dense'), all('wall', 'lexical')];
  row.legs = median(all('wall', 'hybrid').map((micros, i) => micros / (dense[i] + lexical[i])));
  return row;
}
