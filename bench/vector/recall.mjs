// Recall@10 of filtered search over many shapes of vectors (families.mjs; MiniLM, MNIST and GloVe), relations of the filter to the
// vectors (categories.mjs) and selectivities: every cell, at the defaults and at wider searches.
//
//   node vector/recall.mjs [--sets NAME,...|all] [--rows N] [--dimension N] [--queries N] [--seed N] [--efs 0,48,384]
//     [--shares 0.5,0.1,0.01] [--cells]
//
// Caveats: `cost` is a median of wall time per query over that of the unfiltered search; filters are given as ordinals, which
// costs more than a compiled filter. `visited` is the mean number of distances of any precision.
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { VectorIndex } from '../lorekeep.mjs';
import { Categories, relations } from './categories.mjs';
import { embeddedSet } from './embedded.mjs';
import { families } from './families.mjs';
import { baseRows, describeSet, queryRows, vectorSet } from './sets.mjs';

const k = 10;
const tolerance = 1e-5;
const realSets = ['minilm', 'mnist', 'glove', 'clusters'];
/** The index of the latest set, for all widths. */
let latest;
const all = [...Object.keys(families).map((name) => `family-${name}`), ...realSets];

await runTrial(
  'recall',
  {
    sets: 'all',
    rows: 20_000,
    dimension: 384,
    queries: 100,
    seed: 7,
    efs: '0',
    shares: '0.5,0.1,0.01',
    cells: false,
  },
  async (options) => {
    const efs = options.efs.split(',').map(Number);
    const shares = options.shares.split(',').map(Number);
    const names = options.sets === 'all' ? all : options.sets.split(',');
    const cells = [];
    const failed = [];
    const sets = [];
    for (const name of names) {
      try {
        const set = await setNamed(name, options);
        sets.push(describeSet(set));
        for (const ef of efs) cells.push(...(await measureSet(name, set, ef, shares)));
        report(cells.filter((cell) => cell.set === name));
      } catch (error) {
        failed.push({ name, reason: error.message });
      }
    }
    return { data: sets.join('; '), tables: tables(cells, options.cells), failed, detail: cells };
  },
);

async function setNamed(name, options) {
  if (name !== 'minilm') return vectorSet(name, options);
  const { rows, queries } = options;
  return { ...(await embeddedSet({ rows, queries, model: 'all-MiniLM-L6-v2' })), clusters: 0 };
}

async function measureSet(name, set, ef, shares) {
  const rows = baseRows(set);
  const [index, flat] = await opened(rows, set.dimension);
  const categories = new Categories(set);
  const queries = Array.from({ length: set.queries }, (_, i) =>
    queryRows(set).subarray(i * set.dimension, (i + 1) * set.dimension),
  );
  const cells = [];
  const unfiltered = await measureCell(
    index,
    flat,
    queries,
    () => ({ key: 'all', make: () => undefined }),
    ef,
  );
  cells.push({ set: name, ef, relation: 'unfiltered', share: 1, ...unfiltered, cost: 1 });
  for (const relation of relations) {
    for (const share of shares) {
      const cell = await measureCell(index, flat, queries, (i) => categories.of(relation, share, i), ef);
      cells.push({ set: name, ef, relation, share, ...cell, cost: cell.time / unfiltered.time });
    }
  }
  await flat.close();
  return cells;
}

/** The index of these rows, built once for all widths. */
async function opened(rows, dimension) {
  const key = `${rows.length} ${rows[0]} ${rows[1]} ${rows.at(-1)}`;
  if (latest?.key !== key) {
    await latest?.index.close();
    latest = { key, index: await VectorIndex.build(rows, dimension, {}) };
  }
  return [latest.index, await VectorIndex.build(rows, dimension, { kind: 'flat' })];
}

async function measureCell(index, flat, queries, filterOf, ef) {
  const filters = new Map();
  const found = [];
  for (let i = 0; i < queries.length; i++) {
    const { key, make } = filterOf(i);
    if (!filters.has(key)) filters.set(key, make());
    const filter = filters.get(key);
    if (filter?.length === 0) continue;
    const begin = performance.now();
    const hits = await index.search(queries[i], { k, ef: ef || undefined, filter });
    const time = performance.now() - begin;
    const { distances: truth } = await flat.search(queries[i], { k, filter });
    const near = hits.distances.filter((distance) => distance <= truth.at(-1) + tolerance).length;
    found.push({ recall: near / truth.length, path: hits.plan.path, visited: hits.plan.visited, time });
  }
  const mean = (of) => found.reduce((sum, one) => sum + of(one), 0) / found.length;
  return {
    recall: mean(({ recall }) => recall),
    visited: mean(({ visited }) => visited),
    time: median(found.map(({ time }) => time)),
    path: countPaths(found),
  };
}

function countPaths(found) {
  const counts = new Map();
  for (const { path } of found) counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...counts].map(([path, count]) => `${path} ${count}`).join(', ');
}

function report(cells) {
  for (const { set, ef, relation, share, recall, path, visited, cost } of cells) {
    const flag = recall < 0.99 ? ' <' : '';
    console.log(
      `${set} ef ${ef || 'default'} ${relation} ${share * 100} %: ${recall.toFixed(4)} (${path}; ${Math.round(visited)} visited, ${cost.toFixed(1)} x)${flag}`,
    );
  }
}

function tables(cells, everyCell) {
  const groups = new Map();
  for (const cell of cells) {
    const key = `${cell.set} ${cell.ef}`;
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  const rows = [...groups.values()].map((own) => {
    const filtered = own.filter(({ relation }) => relation !== 'unfiltered');
    const worst = filtered.reduce((a, b) => (b.recall < a.recall ? b : a));
    return {
      set: own[0].set,
      ef: own[0].ef || 'default',
      unfiltered: own[0].recall,
      mean: filtered.reduce((sum, { recall }) => sum + recall, 0) / filtered.length,
      least: worst.recall,
      worst: `${worst.relation} ${worst.share * 100} %`,
      cost: Math.max(...filtered.map(({ cost }) => cost)),
    };
  });
  const summary = {
    id: 'recall',
    title: `Filtered search, recall@${k} over all relations and selectivities`,
    columns: [
      { key: 'set', label: 'set' },
      { key: 'ef', label: 'ef' },
      { key: 'unfiltered', label: 'unfiltered', digits: 3 },
      { key: 'mean', label: 'mean', digits: 4 },
      { key: 'least', label: 'least', digits: 3 },
      { key: 'worst', label: 'worst cell' },
      { key: 'cost', label: 'most time / unfiltered', digits: 1 },
    ],
    rows,
  };
  return everyCell ? [summary, cellTable(cells)] : [summary];
}

function cellTable(cells) {
  const columns = ['set', 'ef', 'relation', 'share', 'path'].map((key) => ({ key, label: key }));
  columns.push({ key: 'recall', label: 'recall', digits: 4 }, { key: 'cost', label: 'cost', digits: 1 });
  return { id: 'recall-cells', title: 'Every cell', columns, rows: cells };
}
