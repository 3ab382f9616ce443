// Dense search beside its peers: queries per second at a recall@10 of at least 0.95 and 0.99 (each at the smallest width
// that reaches it), one caller from JavaScript, and the time to build.
//
//   node vector/dense.mjs [--set clusters|latent|mnist|glove] [--rows N] [--dimension N] [--seed N] [--rounds N] [--peers a,b]
//
// Caveats: each index is a process of its own; in a round they take turns, width by width, and the median round counts.
// hnswlib-node builds on one thread, because it offers no other way; the others on two. LanceDB answers from files.
import { parseArgs } from 'node:util';
import { Contestant } from '../harness/contestant.mjs';
import { median, quantile } from '../harness/numbers.mjs';
import { machine, printTable, writeResults } from '../harness/report.mjs';
import { setNames, vectorSet } from './sets.mjs';
import { Truth } from './truth.mjs';

const { values: options } = parseArgs({
  options: {
    set: { type: 'string', default: 'clusters' },
    rows: { type: 'string', default: '100000' },
    dimension: { type: 'string', default: '384' },
    seed: { type: 'string', default: '7' },
    rounds: { type: 'string', default: '3' },
    peers: { type: 'string', default: 'hnswlib,usearch,usearch-f16,usearch-i8,lancedb' },
  },
});
if (!setNames.includes(options.set)) throw new Error(`--set: ${setNames.join(', ')} are there`);

const k = 10;
const batch = 64;
const widths = [10, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384];
const targets = [0.95, 0.99];
const set = vectorSet(options.set, {
  rows: Number(options.rows),
  dimension: Number(options.dimension),
  seed: Number(options.seed),
});
console.log(
  `${set.name}: ${set.rows} rows of ${set.dimension}, ${set.queries} queries, seed ${set.seed ?? '-'}\n`,
);
const truth = await Truth.of(set);
const limits = await truth.limits(k);

const modules = {
  hnswlib: ['hnswlib-node', 'hnswlib.mjs'],
  usearch: ['usearch f32', 'usearch.mjs', { quantization: 'f32' }],
  'usearch-f16': ['usearch f16', 'usearch.mjs', { quantization: 'f16' }],
  'usearch-i8': ['usearch i8', 'usearch.mjs', { quantization: 'i8' }],
  lancedb: ['LanceDB', 'lancedb.mjs'],
};
const peers = options.peers.split(',').filter(Boolean);
const contestants = [['lorekeep', 'lorekeep.mjs'], ...peers.map((name) => modules[name])].map(
  ([name, file, extra]) =>
    new Contestant(name, new URL(`contestants/${file}`, import.meta.url), { set, ...extra }),
);

const results = [];
for (const contestant of contestants) {
  const buildSeconds = await contestant.call('build');
  console.log(`${contestant.name}: built in ${buildSeconds.toFixed(1)} s`);
  results.push({ name: contestant.name, buildSeconds, points: new Map() });
}
for (let round = 0; round < Number(options.rounds); round++) {
  for (const ef of widths) {
    for (const [i, contestant] of contestants.entries()) {
      if (round > 0 && !wanted(results[i], ef)) continue;
      add(results[i], ef, await contestant.call('search', { ef, k }));
    }
  }
}
const ours = results[0];
const best = choose(ours, targets.at(-1)) ?? { ef: 96 };
const many = [];
const single = [];
for (let round = 0; round < Number(options.rounds); round++) {
  single.push(await contestants[0].call('search', { ef: best.ef, k }));
  many.push(await contestants[0].call('batches', { ef: best.ef, k, size: batch }));
}
for (const contestant of contestants) contestant.end();
await truth.close();
report();

/** Later rounds measure only the widths that may be chosen. */
function wanted(result, ef) {
  return targets.some((target) => choose(result, target)?.ef === ef);
}

function add(result, ef, timed) {
  if (!result.points.has(ef)) {
    result.points.set(ef, {
      ef,
      recall: truth.recall(timed.found, k, limits),
      seconds: [],
      cpu: [],
      p99: [],
    });
  }
  const point = result.points.get(ef);
  point.seconds.push(timed.seconds);
  point.cpu.push(median(timed.cpu));
  point.p99.push(quantile(timed.latencies, 0.99));
}

/** The smallest width whose recall is enough. */
function choose(result, target) {
  const first = widths.find((width) => (result.points.get(width)?.recall ?? 0) >= target);
  if (first === undefined) return undefined;
  const chosen = result.points.get(first);
  const qps = set.queries / median(chosen.seconds);
  return { ...chosen, qps, cpuMicros: median(chosen.cpu), p99Micros: median(chosen.p99) };
}

function report() {
  const rows = results.map((result) => {
    const row = { '': result.name, 'build s': result.buildSeconds.toFixed(1) };
    for (const target of targets) {
      const chosen = choose(result, target);
      const own = choose(ours, target);
      row[`${target}: queries/s`] = chosen ? Math.round(chosen.qps) : '-';
      row[`ours/theirs @${target}`] = chosen && own ? (own.qps / chosen.qps).toFixed(2) : '-';
      row[`ef @${target}`] = chosen?.ef ?? '-';
      row[`p99 µs @${target}`] = chosen ? Math.round(chosen.p99Micros) : '-';
      row[`CPU µs @${target}`] = chosen ? Math.round(chosen.cpuMicros) : '-';
    }
    return row;
  });
  console.log();
  printTable(rows);
  const one = set.queries / median(single.map(({ seconds }) => seconds));
  const perCall = (Math.floor(set.queries / batch) * batch) / median(many.map(({ seconds }) => seconds));
  console.log(
    `\n${batch} queries in one call at ef ${best.ef}: ${Math.round(perCall)} a second, ${(perCall / one).toFixed(2)} times one at a time`,
  );
  const content = results.map((result) => ({ ...result, points: [...result.points.values()] }));
  writeResults(`dense-${options.set}`, { set, machine: machine(), results: content, one, perCall });
}
