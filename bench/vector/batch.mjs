// Many queries in one call: queries per second against the number of queries that a call carries, each contestant at the smallest
// width whose recall@10 is at least 0.99 (or the widest tried); and what two threads bring, 64 queries in one call against the
// same call on one thread and against the same queries one by one.
//
//   node vector/batch.mjs [--set clusters|latent] [--rows N] [--dimension N] [--queries N] [--seed N] [--rounds N]
//     [--seconds 0.25 per cell and round] [--warm-up 0.25 before a contestant's turn] [--peers hnswlib,usearch,usearch-f16]
//
// Caveats: two threads for all. One query is asked by each program's call for one query, which runs on one thread. usearch is told the
// number of threads; lorekeep on one thread is a second process, bound to one core (Linux). hnswlib-node has no call for many queries, so its
// rate is that of a loop. The ratios within a program are of one round each, of which the median counts.
import { cached } from '../harness/cache.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { ours, peersNamed } from './contestants.mjs';
import { describeSet, vectorSet } from './sets.mjs';
import { Truth } from './truth.mjs';
import { chooseWidth } from './width.mjs';

const k = 10;
const target = 0.99;
const widths = [16, 32, 64, 128, 256];
const sizes = [1, 4, 16, 64, 256];
const threaded = 64;
const ownName = 'lorekeep';
const oneCore = 'lorekeep, one core';
const withoutBatches = 'hnswlib-node';

await runTrial(
  'batch',
  {
    set: 'clusters',
    rows: 100_000,
    dimension: 384,
    queries: 1000,
    seed: 7,
    rounds: 9,
    seconds: 0.25,
    'warm-up': 0.25,
    peers: 'hnswlib,usearch,usearch-f16',
  },
  async (options) => {
    const set = vectorSet(options.set, options);
    const truth = await Truth.of(set);
    const limits = await truth.limits(k);
    const contestants = await start(set, options.peers);
    const results = new Map();
    for (const name of contestants.names) {
      if (name === oneCore) continue;
      const search = (ef) => contestants.call(name, 'search', { ef, k });
      const chosen = await chooseWidth(widths, target, search, (found) => truth.recall(found, k, limits));
      if (chosen) results.set(name, { name, ...chosen, rounds: [] });
    }
    await truth.close();
    for (let round = 0; round < options.rounds; round++) {
      console.log(`round ${round + 1} of ${options.rounds}`);
      for (const result of results.values()) {
        const rates = await measure(contestants, result, options);
        if (rates) result.rounds.push(rates);
      }
    }
    await contestants.call(ownName, 'remove');
    contestants.end();
    return report(set, [...results.values()], contestants);
  },
);

/** Each with its index open; lorekeep's on the same file. */
async function start(set, peers) {
  const path = cached('indexes', `${set.base}.batch-${process.pid}`);
  const single = { ...ours(set, oneCore, { path, bound: true }), peer: true };
  const contestants = await Contestants.start([
    ours(set, ownName, { path }),
    ...peersNamed(peers, set),
    single,
  ]);
  for (const name of contestants.names) {
    if (name === ownName) await contestants.call(name, 'build', { save: true });
    const opened = await contestants.call(name, 'open', {});
    if (!opened && contestants.has(name)) await contestants.call(name, 'build', { save: true });
  }
  return contestants;
}

/** Queries per second of one contestant's turn: by size, and of `threaded` on one thread. Undefined when it failed. */
async function measure(contestants, { name, ef }, { seconds, 'warm-up': warmUp }) {
  const rates = {};
  const cell = async (who, argument, warm) => {
    const size = argument.size;
    const timed = await contestants.call(who, 'batches', { ef, k, ...argument, seconds, warmUp: warm });
    return timed && timed.perSecond * size;
  };
  for (const [at, size] of (name === withoutBatches ? sizes.slice(0, 1) : sizes).entries())
    rates[size] = await cell(name, { size }, at === 0 ? warmUp : 0);
  if (name === withoutBatches) for (const size of sizes) rates[size] = rates[sizes[0]];
  rates.single = await onOneThread();
  return contestants.has(name) ? rates : undefined;

  function onOneThread() {
    if (name === withoutBatches) return rates[sizes[0]];
    if (name !== ownName) return cell(name, { size: threaded, on: 1 }, 0);
    return contestants.has(oneCore) ? cell(oneCore, { size: threaded }, warmUp) : undefined;
  }
}

function report(set, results, { leftOut, failed }) {
  const [own] = results;
  const over = (result, upper, lower) => {
    const ratios = result.rounds
      .filter((rates) => rates[lower] > 0)
      .map((rates) => rates[upper] / rates[lower]);
    return ratios.length > 0 ? median(ratios) : undefined;
  };
  const rate = (result, key) => median(result.rounds.map((rates) => rates[key]).filter((value) => value > 0));
  const measured = results.filter(({ rounds }) => rounds.length > 0);
  const rows = measured.map((result) => ({
    name: result.name,
    ef: result.ef,
    recall: result.recall,
    ...Object.fromEntries([...sizes, 'single'].map((key) => [key, rate(result, key)])),
    threads: over(result, threaded, 'single'),
    oneByOne: over(result, threaded, 1),
    ratio: rate(own, threaded) / rate(result, threaded),
  }));
  rows.push(...failed.map(({ name, reason }) => ({ name, failed: reason })));
  const columns = [
    { key: 'name', label: '' },
    { key: 'ef', label: 'ef', digits: 0 },
    { key: 'recall', label: `recall@${k}`, digits: 3 },
    ...sizes.map((size) => ({ key: String(size), label: `${size} a call` })),
    { key: 'single', label: `${threaded} a call, one thread` },
    { key: 'threads', label: `${threaded} a call, two threads / one`, digits: 2 },
    { key: 'oneByOne', label: `${threaded} a call / one by one`, digits: 2 },
    { key: 'ratio', label: `ours / theirs, ${threaded}`, digits: 2 },
  ];
  const series = measured.map((result) => ({
    name: result.name === withoutBatches ? `${result.name}, a loop` : result.name,
    points: sizes.map((size) => ({ x: size, y: rate(result, size) })),
  }));
  return {
    data: describeSet(set),
    tables: [{ id: 'batch', title: 'Queries per second by queries in one call', columns, rows }],
    curves: [{ chart: 'throughput-batch', panel: 'dense search, queries a call', series }],
    leftOut,
    failed,
    detail: results,
  };
}
