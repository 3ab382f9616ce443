// Many queries in one call: queries per second against the number of queries that a call carries, each contestant at the smallest
// width whose recall@10 is at least 0.99 (or the widest tried).
//
//   node vector/batch.mjs [--set clusters|latent] [--rows N] [--dimension N] [--seed N] [--rounds N] [--peers hnswlib,usearch,usearch-f16]
//
// Caveats: two threads for all; hnswlib-node has no call for many queries, so its rate is that of a loop, at every size.
import { Contestants } from '../harness/contestants.mjs';
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { ours, peersNamed } from './contestants.mjs';
import { describeSet, vectorSet } from './sets.mjs';
import { Truth } from './truth.mjs';

const k = 10;
const target = 0.99;
const widths = [16, 32, 64, 128, 256];
const sizes = [1, 4, 16, 64, 256];
const withoutBatches = 'hnswlib-node';

await runTrial(
  'batch',
  {
    set: 'clusters',
    rows: 100_000,
    dimension: 384,
    queries: 1000,
    seed: 7,
    rounds: 5,
    peers: 'hnswlib,usearch,usearch-f16',
  },
  async (options) => {
    const set = vectorSet(options.set, options);
    const truth = await Truth.of(set);
    const limits = await truth.limits(k);
    const contestants = await Contestants.start([ours(set), ...peersNamed(options.peers, set)]);
    const results = new Map();
    for (const name of contestants.names) {
      const opened = name !== 'lorekeep' && (await contestants.call(name, 'open', {}));
      if (!opened) await contestants.call(name, 'build', { save: name !== 'lorekeep' });
      const chosen = await chooseWidth(contestants, name, (found) => truth.recall(found, k, limits));
      if (chosen) results.set(name, { name, ...chosen, rates: sizes.map(() => []) });
    }
    for (let round = 0; round < options.rounds; round++) {
      for (const [at, size] of sizes.entries()) await measure(contestants, results, at, size, set);
    }
    contestants.end();
    await truth.close();
    return report(set, [...results.values()], contestants);
  },
);

async function chooseWidth(contestants, name, recallOf) {
  let chosen;
  for (const ef of widths) {
    const timed = await contestants.call(name, 'search', { ef, k });
    if (timed === undefined) return undefined;
    chosen = { ef, recall: recallOf(timed.found) };
    if (chosen.recall >= target) break;
  }
  return chosen;
}

async function measure(contestants, results, at, size, set) {
  await contestants.each(
    'batches',
    (name) => (name === withoutBatches ? undefined : { ef: results.get(name).ef, k, size }),
    (name, { seconds }) => {
      results.get(name).rates[at].push((Math.floor(set.queries / size) * size) / seconds);
    },
  );
  if (!contestants.has(withoutBatches)) return;
  const { ef, rates } = results.get(withoutBatches);
  const timed = await contestants.call(withoutBatches, 'search', { ef, k });
  if (timed) rates[at].push(timed.asked / timed.seconds);
}

function report(set, results, { leftOut, failed }) {
  const medians = ({ rates }) => rates.filter((list) => list.length > 0).map(median);
  const own = medians(results[0]);
  const rows = results.map((result) => {
    const row = { name: result.name, ef: result.ef, recall: result.recall };
    for (const [at, rate] of medians(result).entries()) {
      row[sizes[at]] = rate;
      row.ratio = own[at] / rate; // of the largest batch, in the end
      row.gain = rate / medians(result)[0];
    }
    return row;
  });
  rows.push(...failed.map(({ name, reason }) => ({ name, failed: reason })));
  const columns = [
    { key: 'name', label: '' },
    { key: 'ef', label: 'ef', digits: 0 },
    { key: 'recall', label: `recall@${k}`, digits: 3 },
    ...sizes.map((size) => ({ key: String(size), label: `${size} a call` })),
    { key: 'gain', label: `${sizes.at(-1)} / 1`, digits: 2 },
    { key: 'ratio', label: `ours / theirs, ${sizes.at(-1)}`, digits: 2 },
  ];
  const series = results.map((result) => ({
    name: result.name === withoutBatches ? `${result.name}, a loop` : result.name,
    points: medians(result).map((rate, at) => ({ x: sizes[at], y: rate })),
  }));
  return {
    data: describeSet(set),
    tables: [{ id: 'batch', title: 'Queries per second by queries in one call', columns, rows }],
    curves: [{ chart: 'throughput-batch', panel: 'dense search, queries a call', series }],
    leftOut,
    failed,
  };
}
