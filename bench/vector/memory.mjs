// Resident memory of an open vector index, beside its peers: what a process grows by when it opens the saved index and answers
// queries, and the recall@10 that goes with it (ef 96).
//
//   node vector/memory.mjs [--set clusters|latent] [--rows N] [--dimension N] [--seed N] [--peers hnswlib,usearch,usearch-f16,usearch-i8]
//
// Caveats: each index is built, saved and opened in processes of their own, or opened where an earlier trial of the run has built it.
// lorekeep maps its file, so that nearly all of it is memory that the kernel may drop; the peers copy theirs. "memory alone" is without mapped files.

import { cached } from '../harness/cache.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { runTrial } from '../harness/trial.mjs';
import { ours, peersNamed } from './contestants.mjs';
import { describeSet, vectorSet } from './sets.mjs';
import { Truth } from './truth.mjs';

const k = 10;
const ef = 96;
const types = ['f32', 'f16', 'i8'];

await runTrial(
  'memory',
  {
    set: 'clusters',
    rows: 100_000,
    dimension: 384,
    queries: 1000,
    seed: 7,
    peers: 'hnswlib,usearch,usearch-f16,usearch-i8',
  },
  async (options) => {
    const set = vectorSet(options.set, options);
    const truth = await Truth.of(set);
    const limits = await truth.limits(k);
    const own = types.map((vectorType) => {
      const path = cached('indexes', `${set.name}.memory-${vectorType}-${process.pid}`);
      return ours(set, `lorekeep ${vectorType}`, { vectorType, path });
    });
    const leftOut = [];
    const failed = [];
    const rows = [];
    for (const one of [...own, ...peersNamed(options.peers, set)]) {
      const contestants = await Contestants.start([one]);
      let grown = one.peer === false ? undefined : await contestants.call(one.name, 'open', {});
      if (grown === undefined && contestants.has(one.name)) {
        await contestants.call(one.name, 'build', { save: true });
        contestants.drop(one.name);
        grown = await reopen(contestants, one);
      }
      leftOut.push(...contestants.leftOut);
      failed.push(...contestants.failed);
      const timed = grown && (await contestants.call(one.name, 'search', { ef, k }));
      if (timed) {
        console.log(`${one.name}: ${Math.round(grown.all / 1e6)} MB`);
        rows.push({
          name: one.name,
          all: grown.all / 1e6,
          anonymous: grown.anonymous / 1e6,
          recall: truth.recall(timed.found, k, limits),
        });
      }
      if (one.peer === false) await contestants.call(one.name, 'remove');
      contestants.end();
    }
    await truth.close();
    for (const row of rows) {
      row.perRow = (row.all * 1e6) / set.rows;
      row.ratio = row.all / rows[0].all;
    }
    rows.push(...failed.map(({ name, reason }) => ({ name, failed: reason })));
    const columns = [
      { key: 'name', label: '' },
      { key: 'all', label: 'resident MB', digits: 0 },
      { key: 'anonymous', label: 'memory alone MB', digits: 0 },
      { key: 'perRow', label: 'bytes a row', digits: 0 },
      { key: 'ratio', label: 'times lorekeep f32', digits: 2 },
      { key: 'recall', label: `recall@${k}, ef ${ef}`, digits: 3 },
    ];
    const title = 'Memory of an open vector index';
    return { data: describeSet(set), tables: [{ id: 'memory', title, columns, rows }], leftOut, failed };
  },
);

/** In a fresh process, which has never held the rows. */
async function reopen(contestants, one) {
  const again = await Contestants.start([one]);
  contestants.adopt(again);
  return contestants.call(one.name, 'open', {});
}
