// Recall@10 of filtered search over many shapes of vectors (families.mjs; MiniLM, MNIST and GloVe), relations of the filter to the
// vectors (categories.mjs) and selectivities: every cell, at the defaults and at wider searches.
//
//   node vector/recall.mjs [--sets NAME,...|all] [--rows N] [--dimension N] [--queries N] [--seed N] [--efs 0,48,384]
//     [--shares 0.5,0.1,0.01] [--cells]
//
// Caveats: `cost` is a median of wall time per query over that of the unfiltered search. Filters are conditions on a field, of
// which a storage keeps the latest compiled. `visited` is the mean number of distances of any precision.
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { Storage, VectorIndex } from '../lorekeep.mjs';
import { Categories, relations } from './categories.mjs';
import { embeddedSet } from './embedded.mjs';
import { families } from './families.mjs';
import { baseRows, describeSet, queryRows, vectorSet } from './sets.mjs';

const k = 10;
const tolerance = 1e-5;
const realSets = ['minilm', 'mnist', 'glove', 'clusters'];
/** The storage of the latest set, for all widths. */
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
  const { storage, flat, filters } = await opened(set, shares);
  const queries = Array.from({ length: set.queries }, (_, i) =>
    queryRows(set).subarray(i * set.dimension, (i + 1) * set.dimension),
  );
  const cells = [];
  const unfiltered = await measureCell(storage, flat, queries, () => undefined, ef);
  cells.push({ set: name, ef, relation: 'unfiltered', share: 1, ...unfiltered, cost: 1 });
  for (const relation of relations) {
    for (const share of shares) {
      const filterOf = (i) => filters.get(`${relation} ${share}`)[i];
      const cell = await measureCell(storage, flat, queries, filterOf, ef);
      cells.push({ set: name, ef, relation, share, ...cell, cost: cell.time / unfiltered.time });
    }
  }
  return cells;
}

/** The storage of a set and a flat index beside it, with the filters of each cell by query; made once for all widths. */
async function opened(set, shares) {
  if (latest?.set.name === set.name) return latest;
  await latest?.storage.close();
  await latest?.flat.close();
  const categories = new Categories(set);
  const filters = new Map();
  const keys = Array.from({ length: set.rows }, () => []);
  for (const relation of relations) {
    for (const share of shares)
      filters.set(`${relation} ${share}`, named(categories, relation, share, set, keys));
  }
  const rows = baseRows(set);
  const records = keys.map((own, row) => ({ id: String(row), text: 'x', metadata: { keys: own } }));
  const fields = [{ name: 'keys', type: 'set<string>', default: [] }];
  const storage = await Storage.build(records, rows, set.dimension, { fields });
  latest = { set, storage, flat: await VectorIndex.build(rows, set.dimension, { kind: 'flat' }), filters };
  return latest;
}

/** The filter of each query, its name added to the keys of the rows that match. */
function named(categories, relation, share, set, keys) {
  const made = new Map();
  return Array.from({ length: set.queries }, (_, i) => {
    const { key, make } = categories.of(relation, share, i);
    const name = `${relation} ${share} ${key}`;
    if (!made.has(name)) {
      const ordinals = make();
      for (const row of ordinals) keys[row].push(name);
      made.set(name, { ordinals, expression: { in: [name, { knowledge: 'keys' }] } });
    }
    return made.get(name);
  });
}

async function measureCell(storage, flat, queries, filterOf, ef) {
  const found = [];
  for (let i = 0; i < queries.length; i++) {
    const filter = filterOf(i);
    if (filter?.ordinals.length === 0) continue;
    const request = {
      mode: 'dense',
      vector: queries[i],
      topK: k,
      ef: ef || undefined,
      filter: filter?.expression,
    };
    const begin = performance.now();
    const { hits, plan } = await storage.search(request);
    const time = performance.now() - begin;
    const { distances: truth } = await flat.search(queries[i], { k, filter: filter?.ordinals });
    const near = hits.filter(({ distance }) => distance <= truth.at(-1) + tolerance).length;
    found.push({ recall: near / truth.length, path: plan.dense.path, visited: plan.dense.visited, time });
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
