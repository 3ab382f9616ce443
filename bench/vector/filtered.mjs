// Filtered search beside its peers: recall@10 and latency at five selectivities, for filters that are independent of the
// vectors, correlated with them and anti-correlated; one caller from JavaScript.
//
//   node vector/filtered.mjs [--set clusters|latent] [--rows N] [--dimension N] [--seed N] [--ef N] [--peers hnswlib,lancedb] [--rounds N]
//
// Filters, as conditions on integer fields (a range each, known by its share of the rows):
// - independent: the rank of a row in a random order;
// - near, far: its rank by distance from the query's anchor, one of eight rows: the nearest share, or the farthest;
// - own, other: its cluster's number: clusters among which the query's is, or only others.
// Caveats: hnswlib-node filters by a JavaScript callback per visited row; LanceDB prefilters over a B-tree index. usearch has no
// filter in JavaScript. The filter is evaluated in every search, and its time counts. Latency includes waiting for a core.
import { parseArgs } from 'node:util';
import { Contestant } from '../harness/contestant.mjs';
import { median, quantile, Random } from '../harness/numbers.mjs';
import { printTable, writeResults } from '../harness/report.mjs';
import { baseRows, clustersOf, queryRows, vectorSet } from './sets.mjs';
import { Truth } from './truth.mjs';

const { values: options } = parseArgs({
  options: {
    set: { type: 'string', default: 'clusters' },
    rows: { type: 'string', default: '100000' },
    dimension: { type: 'string', default: '384' },
    seed: { type: 'string', default: '7' },
    queries: { type: 'string', default: '200' },
    ef: { type: 'string' },
    rounds: { type: 'string', default: '2' },
    peers: { type: 'string', default: 'hnswlib,lancedb' },
  },
});
if (!['clusters', 'latent'].includes(options.set)) throw new Error('--set: clusters, latent are there');

const k = 10;
const anchors = 8;
const shares = [0.5, 0.1, 0.01, 0.001, 0.0001];
const relations = ['independent', 'near', 'far', 'own', 'other'];
const set = vectorSet(options.set, {
  rows: Number(options.rows),
  dimension: Number(options.dimension),
  queries: Number(options.queries),
  seed: Number(options.seed),
});
console.log(`${set.name}: ${set.rows} rows of ${set.dimension}, ${set.queries} queries, seed ${set.seed}\n`);

const random = new Random(set.seed + 1);
const rows = baseRows(set);
const queries = queryRows(set);
const anchorOf = nearestAnchors();
const topicOfCluster = random.permutation(set.clusters);
const topics = clustersOf(set).map((cluster) => topicOfCluster[cluster]);
const columns = makeColumns();
const modules = { hnswlib: ['hnswlib-node', 'hnswlib.mjs'], lancedb: ['LanceDB', 'lancedb.mjs'] };
const peers = options.peers.split(',').filter(Boolean);
const contestants = [['lorekeep', 'lorekeep.mjs'], ...peers.map((name) => modules[name])].map(
  ([name, file]) =>
    new Contestant(name, new URL(`contestants/${file}`, import.meta.url), { set, records: true }),
);
const truth = await Truth.of(set);
for (const contestant of contestants) {
  console.log(`${contestant.name}: built in ${(await contestant.call('build', columns)).toFixed(1)} s`);
}
const cells = [];
await measure('unfiltered', 1, () => undefined);
for (const relation of relations) {
  for (const share of shares) {
    const filters = Array.from({ length: set.queries }, (_, i) => filterOf(relation, share, i));
    if (filters.some((filter) => filter === undefined)) continue;
    await measure(relation, share, (i) => filters[i]);
  }
}
for (const contestant of contestants) contestant.end();
await truth.close();
console.log();
printTable(cells.map(({ row }) => row));
writeResults(`filtered-${options.set}`, { set, cells: cells.map(({ data }) => data) });

async function measure(relation, share, filter) {
  const filters = Array.from({ length: set.queries }, (_, i) => filter(i));
  const limits = await truth.limits(k, (i) => filters[i] && matching(filters[i]));
  const row = { filter: relation, share: `${share * 100} %` };
  const data = { relation, share, contestants: {} };
  for (const contestant of contestants) {
    const ef = Number(options.ef ?? (contestant === contestants[0] ? 0 : 96)) || undefined;
    const rounds = [];
    for (let round = 0; round < Number(options.rounds); round++) {
      rounds.push(await contestant.call('filtered', { ef, k, filters }));
    }
    const recall = truth.recall(rounds[0].found, k, limits, (i, at) => passes(filters[i], at));
    const p50 = median(rounds.map(({ latencies }) => median(latencies)));
    const p99 = Math.min(...rounds.map(({ latencies }) => quantile(latencies, 0.99)));
    const cpu50 = median(rounds.map(({ cpu }) => median(cpu)));
    const cpu99 = Math.min(...rounds.map(({ cpu }) => quantile(cpu, 0.99)));
    const { paths } = rounds[0];
    const path = paths ? ` ${paths.graph >= paths.exact ? 'graph' : 'exact'}` : '';
    row[`${contestant.name}: recall`] = recall.toFixed(3) + path;
    row[`${contestant.name}: p50 / p99 µs`] = [p50, p99].map(Math.round).join(' / ');
    row[`${contestant.name}: CPU p50 / p99 µs`] = [cpu50, cpu99].map(Math.round).join(' / ');
    data.contestants[contestant.name] = { recall, p50, p99, cpu50, cpu99, paths };
  }
  cells.push({ row, data });
  console.error(Object.values(row).join('  '));
}

/** Rank of every row by each of the fields, so that a range of `share * rows` selects exactly that share. */
function makeColumns() {
  const made = { random: ranks(random.permutation(set.rows)) };
  for (let anchor = 0; anchor < anchors; anchor++) {
    const at = anchorRow(anchor);
    const nearness = Float32Array.from({ length: set.rows }, (_, row) => -dot(rows, at, rows, row));
    made[`anchor${anchor}`] = ranks(sortedBy(nearness));
  }
  made.topic = topics.slice(0, set.rows);
  return made;
}

/** The condition of query i: [field, from, to], to excluded. */
function filterOf(relation, share, i) {
  const count = Math.round(share * set.rows);
  if (relation === 'independent') return ['random', 0, count];
  if (relation === 'near') return [`anchor${anchorOf[i]}`, 0, count];
  if (relation === 'far') return [`anchor${anchorOf[i]}`, set.rows - count, set.rows];
  const chosen = Math.round(share * set.clusters);
  if (chosen < 1) return undefined;
  const topic = topics[set.rows + i];
  const first = Math.min(topic, set.clusters - chosen);
  if (relation === 'own') return ['topic', first, first + chosen];
  return topic < set.clusters / 2 ? ['topic', set.clusters - chosen, set.clusters] : ['topic', 0, chosen];
}

function passes(filter, row) {
  if (filter === undefined) return true;
  const [field, from, to] = filter;
  return columns[field][row] >= from && columns[field][row] < to;
}

function matching(filter) {
  const found = [];
  for (let row = 0; row < set.rows; row++) if (passes(filter, row)) found.push(row);
  return Uint32Array.from(found);
}

/** The anchor row nearest to each query, by number. */
function nearestAnchors() {
  return Array.from({ length: set.queries }, (_, query) => {
    const dots = Array.from({ length: anchors }, (_, anchor) => dot(queries, query, rows, anchorRow(anchor)));
    return dots.indexOf(Math.max(...dots));
  });
}

function anchorRow(anchor) {
  return anchor * Math.floor(set.rows / anchors);
}

function dot(a, i, b, j) {
  let sum = 0;
  for (let at = 0; at < set.dimension; at++) sum += a[i * set.dimension + at] * b[j * set.dimension + at];
  return sum;
}

function sortedBy(keys) {
  return Uint32Array.from(keys, (_, i) => i).sort((a, b) => keys[a] - keys[b] || a - b);
}

/** The position of each row in an order. */
function ranks(order) {
  const rank = new Uint32Array(order.length);
  for (let position = 0; position < order.length; position++) rank[order[position]] = position;
  return rank;
}
