// Dense search beside its peers: recall@10 against queries per second at every width, and at a recall of at least 0.95 and 0.99
// (each at the smallest width that reaches it); one caller from JavaScript; M 16, ef_construction 200.
//
//   node vector/dense.mjs [--set clusters|latent|mnist|glove] [--rows N] [--dimension N] [--queries N] [--seed N]
//     [--rounds N] [--peers hnswlib,usearch,usearch-f16,usearch-i8,lancedb]
//
// Caveats: each index is a process of its own; in a round they take turns, width by width, and the median round counts.
// hnswlib-node builds on one thread, because it offers no other way; the others on two. LanceDB answers from files.
import { Contestants } from '../harness/contestants.mjs';
import { median, quantile } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { ours, peersNamed } from './contestants.mjs';
import { describeSet, vectorSet } from './sets.mjs';
import { Truth } from './truth.mjs';
import { narrowest } from './width.mjs';

const k = 10;
const widths = [10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384];
const targets = [0.95, 0.99];
const secondsPerWidth = 2;

await runTrial(
  'dense',
  {
    set: 'clusters',
    rows: 100_000,
    dimension: 384,
    queries: 1000,
    seed: 7,
    rounds: 3,
    peers: 'hnswlib,usearch,usearch-f16,usearch-i8,lancedb',
  },
  async (options) => {
    const set = vectorSet(options.set, options);
    const truth = await Truth.of(set);
    const limits = await truth.limits(k);
    const contestants = await Contestants.start([ours(set), ...peersNamed(options.peers, set)]);
    const results = new Map();
    await contestants.each(
      'build',
      () => ({ save: true }),
      (name, seconds) => {
        console.log(`${name}: built in ${seconds.toFixed(1)} s`);
        results.set(name, { name, buildSeconds: seconds, points: [] });
      },
    );
    await contestants.each(
      'search',
      () => ({ ef: widths.at(-1), k, budget: 1 }),
      () => {},
    ); // warming up
    for (let round = 0; round < options.rounds; round++) {
      console.log(`round ${round + 1} of ${options.rounds}`);
      for (const ef of widths) {
        await contestants.each(
          'search',
          () => ({ ef, k, budget: secondsPerWidth }),
          (name, timed) => add(results.get(name), ef, timed, () => truth.recall(timed.found, k, limits)),
        );
      }
    }
    await contestants.call('lorekeep', 'remove');
    contestants.end();
    await truth.close();
    return report(set, [...results.values()], contestants);
  },
);

function add(result, ef, { asked, seconds, cpu, latencies }, recallOf) {
  let point = result.points.find((one) => one.ef === ef);
  if (point === undefined) {
    point = { ef, recall: recallOf(), rates: [], cpu: [], p99: [] };
    result.points.push(point);
  }
  point.rates.push(asked / seconds);
  point.cpu.push(median(cpu));
  point.p99.push(quantile(latencies, 0.99));
}

function report(set, results, { leftOut, failed }) {
  const [own] = results;
  const rows = results.map((result) => {
    const row = { name: result.name };
    for (const target of targets) {
      const [chosen, mine] = [narrowest(result.points, target), narrowest(own.points, target)];
      if (!chosen) continue;
      row[`ef${target}`] = chosen.ef;
      row[`qps${target}`] = median(chosen.rates);
      row[`p99${target}`] = median(chosen.p99);
      row[`cpu${target}`] = median(chosen.cpu);
      if (mine) row[`ratio${target}`] = median(mine.rates) / median(chosen.rates);
    }
    return row;
  });
  const columns = targets.flatMap((target) => [
    { key: `ef${target}`, label: `ef @${target}`, digits: 0 },
    { key: `qps${target}`, label: 'queries/s' },
    { key: `ratio${target}`, label: 'ours / theirs', digits: 2 },
    { key: `p99${target}`, label: 'p99 µs' },
    { key: `cpu${target}`, label: 'CPU µs' },
  ]);
  const table = {
    id: `dense-${set.name.split('-')[0]}`,
    title: `Dense search, recall@${k} of at least ${targets.join(' and ')}`,
    columns: [{ key: 'name', label: '' }, ...columns],
    rows: [...rows, ...failed.map(({ name, reason }) => ({ name, failed: reason }))],
    note: 'A dash: no width up to 384 reached that recall.',
  };
  const series = results.map(({ name, points }) => ({
    name,
    points: points.map(({ recall, rates }) => ({ x: recall, y: median(rates) })),
  }));
  const panel = `${set.rows.toLocaleString('en')} × ${set.dimension}, ${set.name.split('-')[0]}`;
  return {
    data: describeSet(set),
    tables: [table],
    curves: [{ chart: 'recall-qps', panel, series }],
    leftOut,
    failed,
    detail: results,
  };
}
