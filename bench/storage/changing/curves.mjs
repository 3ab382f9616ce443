// Searches per second over the share of records changed since the last merge, against a built storage.
import { Storage } from '../../../dist/lib/index.js';
import { fields, filter, measured, median, merged, scattered } from './data.mjs';

const shares = [0, 0.01, 0.05, 0.1, 0.2];
const kinds = {
  dense: { mode: 'dense' },
  'dense, filtered': { mode: 'dense', filter },
  lexical: { mode: 'lexical' },
  'lexical, filtered': { mode: 'lexical', filter },
  hybrid: { mode: 'hybrid' },
  'hybrid, filtered': { mode: 'hybrid', filter },
};
const topK = 10;
const recallQueries = 100;

const operands = ({ vector, text }, mode) => ({
  ...(mode !== 'lexical' && { vector }),
  ...(mode !== 'dense' && { text }),
});

async function timeOf(storage, query, options) {
  const started = performance.now();
  await storage.search({ ...operands(query, options.mode), ...options, topK });
  return performance.now() - started;
}

/** Returns the searches per second of the first storage as a share of the second's, by each query's median time. */
async function ratioOf(storages, queries, options, rounds) {
  const times = storages.map(() => queries.map(() => []));
  for (let round = 0; round <= rounds; round++) {
    for (const [at, query] of queries.entries()) {
      for (const which of (round + at) % 2 === 0 ? [0, 1] : [1, 0]) {
        const taken = await timeOf(storages[which], query, options);
        if (round > 0) times[which][at].push(taken);
      }
    }
  }
  const [changed, built] = times.map((all) => sum(all.map(median)));
  return built / changed;
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

/** A width of 100,000 compares every record. */
async function recallOf(storage, queries, options) {
  let found = 0;
  const asked = queries.slice(0, recallQueries);
  for (const { vector } of asked) {
    const near = await storage.search({ ...options, vector, topK });
    const truth = await storage.search({ ...options, vector, topK, ef: 100_000 });
    const ids = new Set(near.hits.map(({ id }) => id));
    found += truth.hits.filter(({ id }) => ids.has(id)).length;
  }
  return found / (asked.length * topK);
}

async function freshOf(live, dimension, options) {
  const all = [];
  for (let offset = 0; offset < live.size; offset += 10_000)
    all.push(...(await live.list({ offset, limit: 10_000 })));
  const vectors = new Float32Array(all.length * dimension);
  for (const [at, { id }] of all.entries()) vectors.set(await live.embedding(id), at * dimension);
  return Storage.build(all, vectors, dimension, options);
}

/** `samePinned`: compares with the storage as it was built, which has as many records of the same kind. */
export async function curves(made, { count, batch, rounds, queries, samePinned, build }) {
  const first = made.make(Array.from({ length: count }, (_, i) => `r${i}`));
  const options = { fields, ...build };
  let live;
  const built = await measured(async () => {
    live = await Storage.build(first.records, first.vectors, made.dimension, options);
  });
  const original = live.pin();
  const asked = made.queries(queries);
  const rows = [];
  let changed = 0;
  for (const share of shares) {
    // One record fewer than a fifth: from there on, all parts are merged.
    const until = Math.min(Math.round(share * count), Math.ceil(0.2 * count) - 1);
    while (changed < until) {
      const size = Math.min(batch, until - changed);
      const { records, vectors } = made.make(scattered(changed, size, count));
      await live.update({ replace: records }, vectors);
      changed += size;
    }
    await merged(live);
    const fresh = samePinned ? original : await freshOf(live, made.dimension, options);
    const row = { share: `${Math.round(100 * share)} %`, parts: live.merging.parts };
    for (const [name, kind] of Object.entries(kinds))
      row[name] = await ratioOf([live, fresh], asked, kind, rounds);
    row.recall = await recallOf(live, asked, kinds.dense);
    rows.push(row);
    if (!samePinned) await fresh.close();
  }
  await original.close();
  const columns = [
    { key: 'share', label: 'changed' },
    { key: 'parts', label: 'parts', digits: 0 },
    ...Object.keys(kinds).map((key) => ({ key, label: key, digits: 2 })),
    { key: 'recall', label: 'recall@10', digits: 3 },
  ];
  const title = `${count} records x ${made.dimension}: searches per second, as a share of those of ${
    samePinned ? 'the storage as it was built' : 'a storage built from the same records'
  }`;
  return { live, built, table: { title, columns, rows } };
}
