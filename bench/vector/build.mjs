// Time to build a vector index beside its peers, at M 16 and ef_construction 200: each contestant builds the same rows in turn, in a
// process of its own, several times; the median counts.
//
//   node vector/build.mjs [--rows N] [--dimension N] [--seed N] [--rounds N] [--peers hnswlib,usearch,usearch-f16]
//
// Caveat: hnswlib-node builds on one thread, because it offers no other way; so ours is there on one thread, too.
import { Contestants } from '../harness/contestants.mjs';
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { ours, peersNamed } from './contestants.mjs';
import { describeSet, vectorSet } from './sets.mjs';

const single = 'lorekeep, 1 thread';
const threads = { 'hnswlib-node': 1, [single]: 1 };

await runTrial(
  'build',
  {
    set: 'clusters',
    rows: 20_000,
    dimension: 384,
    seed: 7,
    rounds: 3,
    peers: 'hnswlib,usearch,usearch-f16,lancedb',
  },
  async (options) => {
    const set = vectorSet(options.set, { ...options, queries: 500 });
    const list = [ours(set), ours(set, single, { threads: 1 }), ...peersNamed(options.peers, set)];
    const contestants = await Contestants.start(list);
    const times = new Map();
    for (let round = 0; round < options.rounds; round++) {
      console.log(`round ${round + 1} of ${options.rounds}`);
      await contestants.each(
        'build',
        () => ({}),
        (name, seconds) => times.set(name, [...(times.get(name) ?? []), seconds]),
      );
    }
    contestants.end();
    const own = median(times.get('lorekeep'));
    const rows = [...times].map(([name, list]) => ({
      name,
      threads: threads[name] ?? 2,
      seconds: median(list),
      rate: set.rows / median(list),
      ratio: median(list) / own,
    }));
    const { leftOut, failed } = contestants;
    rows.push(...failed.map(({ name, reason }) => ({ name, failed: reason })));
    const columns = [
      { key: 'name', label: '' },
      { key: 'threads', label: 'threads', digits: 0 },
      { key: 'seconds', label: 'seconds' },
      { key: 'rate', label: 'rows/s' },
      { key: 'ratio', label: 'theirs / ours', digits: 2 },
    ];
    const title = 'Building a vector index, M 16, ef_construction 200';
    return {
      data: describeSet(set),
      tables: [{ id: 'build', title, columns, rows }],
      leftOut,
      failed,
      detail: Object.fromEntries(times),
    };
  },
);
