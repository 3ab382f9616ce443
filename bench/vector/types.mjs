// Costs and savings of `vectorType`: bytes of vectors, recall@10 at equal widths, and time of a query, of f32, f16 and i8
// over the same rows. No peers.
//
//   node vector/types.mjs [--set clusters|latent|mnist|glove|embedded] [--rows N] [--dimension N] [--queries N] [--seed N] [--rounds N]
//
// Caveats: the three indexes share a process and take turns, width by width; times are the CPU time of the process per query,
// the call from JavaScript included, the median round. The graphs differ: f32 and f16 build theirs on the same codes, i8 on its own.
import { rmSync } from 'node:fs';
import { cached } from '../harness/cache.mjs';
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { inspectFile, VectorIndex } from '../lorekeep.mjs';
import { embeddedSet } from './embedded.mjs';
import { baseRows, describeSet, queryRows, vectorSet } from './sets.mjs';
import { Truth } from './truth.mjs';

const k = 10;
const widths = [16, 32, 64, 96, 200];
const types = ['f32', 'f16', 'i8'];
const vectorSections = ['rows', 'row scales', 'row low bits', 'codes', 'code scales'];

await runTrial(
  'types',
  { set: 'clusters', rows: 30_000, dimension: 384, queries: 500, seed: 7, rounds: 5 },
  async (options) => {
    const set = options.set === 'embedded' ? await embeddedSet(options) : vectorSet(options.set, options);
    const truth = await Truth.of(set);
    const limits = await truth.limits(k);
    const queries = queryRows(set);
    const indexes = new Map();
    const rows = [];
    for (const type of types) {
      const index = await VectorIndex.build(baseRows(set), set.dimension, { vectorType: type });
      indexes.set(type, index);
      rows.push({ type, bytes: await vectorBytes(index, set) });
    }
    for (const row of rows) row.ratio = row.bytes / rows[0].bytes;
    for (const ef of widths) {
      const times = new Map(types.map((type) => [type, []]));
      for (let round = 0; round < options.rounds; round++) {
        for (const row of rows) {
          const { found, micros } = await ask(indexes.get(row.type), queries, set, ef);
          times.get(row.type).push(micros);
          row[`recall${ef}`] ??= truth.recall(found, k, limits);
        }
      }
      for (const row of rows) row[`cpu${ef}`] = median(times.get(row.type));
    }
    for (const index of indexes.values()) await index.close();
    await truth.close();
    const columns = [
      { key: 'type', label: '' },
      { key: 'bytes', label: 'bytes a vector', digits: 0 },
      { key: 'ratio', label: 'times f32', digits: 3 },
      ...widths.flatMap((ef) => [
        { key: `recall${ef}`, label: `recall@${k}, ef ${ef}`, digits: 4 },
        { key: `cpu${ef}`, label: 'CPU µs', digits: 0 },
      ]),
    ];
    return { data: describeSet(set), tables: [{ id: 'types', title: 'Vector types', columns, rows }] };
  },
);

/** Per row, without the graph, as the index's file holds them. */
async function vectorBytes(index, set) {
  const path = cached('indexes', `types-${process.pid}.index`);
  try {
    await index.save(path);
    const { sections } = await inspectFile(path);
    const sizes = sections.filter(({ name }) => vectorSections.includes(name)).map(({ bytes }) => bytes);
    return sizes.reduce((sum, size) => sum + size, 0) / set.rows;
  } finally {
    rmSync(path, { force: true });
  }
}

/** Asks every query once. `found`: k ordinals to each; `micros`: CPU time of each. */
async function ask(index, queries, set, ef) {
  const found = new Int32Array(set.queries * k).fill(-1);
  const begin = process.cpuUsage();
  for (let i = 0; i < set.queries; i++) {
    const query = queries.subarray(i * set.dimension, (i + 1) * set.dimension);
    found.set((await index.search(query, { k, ef })).ordinals, i * k);
  }
  const { user, system } = process.cpuUsage(begin);
  return { found, micros: (user + system) / set.queries };
}
