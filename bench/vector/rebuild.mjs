// Building an index of mostly the same rows with the links of the earlier one, against linking all rows: time, and recall of graph
// searches at the default width. Both build on all threads, one after the other in each round.
//
//   node bench/vector/rebuild.mjs [--set latent] [--rows 20000] [--dimension 384] [--rounds 3]
//
// Each share is a chain of three rebuilds: every one replaces that share of the rows by new ones, at random places.
import { median, Random } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { VectorIndex } from '../lorekeep.mjs';
import { baseRows, queryRows, vectorSet } from './sets.mjs';

const options = { set: 'latent', rows: 20_000, dimension: 384, queries: 200, rounds: 3, seed: 1 };
const shares = [0, 0.001, 0.01, 0.1, 0.25];
const k = 10;

await runTrial('rebuild', options, async ({ set: name, rows, dimension: width, queries, rounds, seed }) => {
  // A part of the set is held back, for the rows that come later.
  const set = vectorSet(name, { rows: 2 * rows, dimension: width, queries });
  const { dimension } = set;
  const all = await baseRows(set);
  const asked = await queryRows(set);
  const random = new Random(seed);
  const table = [];
  for (const share of shares) {
    const seen = { kept: [], linked: [], ratio: [] };
    let vectors = all.slice(0, rows * dimension);
    let index = await VectorIndex.build(vectors, dimension);
    for (let round = 0; round < rounds; round++) {
      vectors = vectors.slice();
      for (let n = 0; n < share * rows; n++) {
        const from = (rows + random.integer(rows)) * dimension;
        vectors.set(all.subarray(from, from + dimension), random.integer(rows) * dimension);
      }
      const [keptMs, next] = await timed(() => VectorIndex.build(vectors, dimension, { earlier: index }));
      const [freshMs, fresh] = await timed(() => VectorIndex.build(vectors, dimension));
      seen.kept.push(keptMs);
      seen.linked.push(freshMs);
      seen.ratio.push(freshMs / keptMs);
      if (round === rounds - 1)
        table.push({
          share: `${100 * share} %`,
          linked: next.linked,
          kept: median(seen.kept) / 1000,
          fresh: median(seen.linked) / 1000,
          ratio: median(seen.ratio),
          recallKept: await recall(next, asked),
          recallFresh: await recall(fresh, asked),
        });
      await fresh.close();
      await index.close();
      index = next;
    }
    await index.close();
    console.log(JSON.stringify(table.at(-1)));
  }
  const columns = [
    { key: 'share', label: 'replaced rows' },
    { key: 'linked', label: 'linked' },
    { key: 'kept', label: 'with earlier, s', digits: 2 },
    { key: 'fresh', label: 'all linked, s', digits: 2 },
    { key: 'ratio', label: 'ratio', digits: 1 },
    { key: 'recallKept', label: 'recall@10 with earlier', digits: 4 },
    { key: 'recallFresh', label: 'recall@10 all linked', digits: 4 },
  ];
  const title = `Rebuilding an index, the last of ${rounds} rebuilds`;
  return { data: `${set.name}: ${rows} rows`, tables: [{ id: 'rebuild', title, columns, rows: table }] };
});

async function timed(call) {
  const begin = performance.now();
  const result = await call();
  return [performance.now() - begin, result];
}

async function recall(index, queries) {
  const found = await index.searchMany(queries, { k });
  const truth = await index.searchMany(queries, { k, exact: true });
  let hits = 0;
  found.forEach(({ ordinals }, i) => {
    for (const ordinal of ordinals) if (truth[i].ordinals.includes(ordinal)) hits++;
  });
  return hits / (k * found.length);
}
