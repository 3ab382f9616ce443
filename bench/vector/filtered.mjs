// Filtered search beside its peers: recall@10 and latency at five selectivities, for filters that are independent of the
// vectors, correlated with them and anti-correlated (see filters.mjs); one caller from JavaScript.
//
//   node vector/filtered.mjs [--set clusters|latent] [--rows N] [--dimension N] [--queries N] [--seed N] [--ef N]
//     [--peers hnswlib,lancedb] [--rounds N] [--seconds N]
//
// Caveats: hnswlib-node filters by a JavaScript callback per visited row; LanceDB prefilters over a B-tree index. usearch has no
// filter in JavaScript. Filters are compiled before and used by many queries; evaluating them counts (ours keeps what one lets
// through from its second search on). Latency includes waiting for a core.
// The peers search with ef 96 or --ef, ours with its default or --ef. A contestant that is slow at a filter answers as many of
// the queries as there is time for (--seconds per round, 20 at least); recall is over those.

import { OptionError } from '../harness/command-line.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { median, quantile } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { ours, peersNamed } from './contestants.mjs';
import { Filters, relations } from './filters.mjs';
import { describeSet, vectorSet } from './sets.mjs';
import { Truth } from './truth.mjs';

const k = 10;
const shares = [0.5, 0.1, 0.01, 0.001, 0.0001];
const peersWidth = 96;
const drawn = {
  independent: 'independent of the vectors',
  near: 'correlated: near the query',
  far: 'anti-correlated: far from it',
};

await runTrial(
  'filtered',
  {
    set: 'clusters',
    rows: 100_000,
    dimension: 384,
    queries: 200,
    seed: 7,
    ef: 0,
    rounds: 2,
    seconds: 1,
    peers: 'hnswlib,lancedb',
  },
  async (options) => {
    if (!['clusters', 'latent'].includes(options.set))
      throw new OptionError('--set: clusters, latent are there');
    const set = vectorSet(options.set, options);
    const filters = new Filters(set);
    const { columns } = filters;
    const contestants = await Contestants.start([ours(set), ...peersNamed(options.peers, set)]);
    const truth = await Truth.of(set);
    await prepare(contestants, columns);
    const cells = [];
    const measure = async (relation, share, conditions) => {
      const limits = await truth.limits(k, (i) => filters.matching(conditions[i]));
      const recall = (found) =>
        truth.recall(found, k, limits, (i, row) => filters.passes(conditions[i], row));
      const cell = await measured(contestants, options, conditions, recall);
      cells.push({ relation, share, contestants: cell });
      console.log(`${relation} ${share * 100} %`);
    };
    await measure('unfiltered', 1, new Array(set.queries).fill(undefined));
    for (const relation of relations) {
      for (const share of shares) {
        const conditions = Array.from({ length: set.queries }, (_, i) => filters.of(relation, share, i));
        if (!conditions.includes(undefined)) await measure(relation, share, conditions);
      }
    }
    const { names } = contestants;
    contestants.end();
    await truth.close();
    return report(set, cells, names, contestants);
  },
);

/** Builds, or opens what an earlier trial of the run has built. */
async function prepare(contestants, columns) {
  const opens = contestants.names.filter((name) => name === 'hnswlib-node');
  for (const name of contestants.names) {
    const opened = opens.includes(name) && (await contestants.call(name, 'open', { columns }));
    if (opened) console.log(`${name}: opened the index of an earlier trial`);
    else {
      const seconds = await contestants.call(name, 'build', { columns, save: opens.includes(name) });
      if (seconds) console.log(`${name}: built in ${seconds.toFixed(1)} s`);
    }
  }
}

async function measured(contestants, { ef, rounds, seconds }, filters, recall) {
  const timed = new Map();
  for (let round = 0; round < rounds; round++) {
    await contestants.each(
      'filtered',
      (name) => ({ ef: ef || (name === 'lorekeep' ? undefined : peersWidth), k, filters, budget: seconds }),
      (name, one) => timed.set(name, [...(timed.get(name) ?? []), one]),
    );
  }
  const summary = ([name, list]) => [
    name,
    {
      recall: recall(list[0].found),
      asked: list[0].asked,
      p50: median(list.map(({ latencies }) => median(latencies))),
      p99: Math.min(...list.map(({ latencies }) => quantile(latencies, 0.99))),
      cpu50: median(list.map(({ cpu }) => median(cpu))),
      path: list[0].paths && commonest(list[0].paths),
    },
  ];
  return Object.fromEntries([...timed].map(summary));
}

function commonest(counts) {
  return Object.keys(counts).reduce((a, b) => (counts[b] > counts[a] ? b : a));
}

function report(set, cells, names, { leftOut, failed }) {
  const peers = names.filter((name) => name !== 'lorekeep');
  const columns = [
    { key: 'relation', label: 'filter' },
    { key: 'share', label: 'matches' },
    { key: 'path', label: 'path' },
    ...names.flatMap((name) => [
      { key: `${name} recall`, label: `${name} recall`, digits: 3 },
      { key: `${name} p50`, label: 'p50 µs' },
      // The peers' are in the trial's details.
      ...(peers.includes(name)
        ? [{ key: `${name} ratio`, label: 'theirs / ours', digits: 1 }]
        : [{ key: `${name} p99`, label: 'p99 µs' }]),
    ]),
  ];
  const rows = cells.map(({ relation, share, contestants }) => {
    const row = { relation, share: `${share * 100} %`, path: contestants.lorekeep.path };
    for (const [name, { recall, p50, p99 }] of Object.entries(contestants)) {
      row[`${name} recall`] = recall;
      row[`${name} p50`] = p50;
      row[`${name} p99`] = p99;
      row[`${name} ratio`] = p50 / contestants.lorekeep.p50;
    }
    return row;
  });
  rows.push(...failed.map(({ name, reason }) => ({ relation: name, failed: reason })));
  return {
    data: describeSet(set),
    tables: [
      {
        id: 'filtered',
        title: `Filtered search, recall@${k} and latency`,
        columns,
        rows,
      },
    ],
    curves: Object.entries(drawn).map(([relation, panel]) => curve(relation, panel, cells, names)),
    leftOut,
    failed,
    detail: cells,
  };
}

function curve(relation, panel, cells, names) {
  const own = cells.filter((cell) => cell.relation === relation);
  const series = names.map((name) => ({
    name,
    points: own
      .filter(({ contestants }) => contestants[name])
      .map(({ share, contestants }) => ({ x: share, y: contestants[name].p50 / 1000 })),
  }));
  return { chart: 'latency-selectivity', panel, series };
}
