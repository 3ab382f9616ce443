// Opens knowledge bases of several sizes: time from openKnowledgeBase() to the first query's answer, and resident memory. Beside it,
// what peers take to open a vector index alone and answer from it; ours alone, too.
//
//   node storage/open.mjs [--sizes 10000,100000,500000] [--types f32,f16,i8] [--rounds 3] [--seed N] [--ef-construction 24]
//     [--recall] [--peers hnswlib,usearch,usearch-f16] [--peer-sizes 10000]
//
// Data: made-base.mjs for the knowledge bases, vector/sets.mjs ("clusters") for the indexes alone.
// Caveats: the files are in the page cache when they are opened (they have just been read once); each opening runs in a process of its
// own, and they take turns; a kernel that is short of memory evicts mapped pages, and then resident memory says less than the
// index needs. ef_construction 24 makes the graph in a tenth of the time: opening does not depend on the graph's quality,
// recall does (--recall wants 200). Peers open what an earlier trial of the run has built, else only --peer-sizes are built.
// 500,000 records need 2 GB of disk per type and 4 GB of memory.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cached } from '../harness/cache.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { ours, peersNamed } from '../vector/contestants.mjs';
import { indexFile } from '../vector/index-file.mjs';
import { vectorSet } from '../vector/sets.mjs';

const defaults = {
  sizes: '10000,50000,100000,500000',
  types: 'f32',
  rounds: 3,
  seed: 1,
  'ef-construction': 24,
  recall: false,
  peers: 'hnswlib,usearch,usearch-f16',
  'index-sizes': '10000,100000',
  'peer-sizes': '10000',
};
const numbers = (list) => list.split(',').filter(Boolean).map(Number);
const dimension = 384;

await runTrial('open', defaults, async (options) => {
  const folder = cached('open', String(process.pid));
  const failed = [];
  const leftOut = [];
  try {
    const bases = [];
    for (const size of numbers(options.sizes))
      bases.push(...(await openBases(options, folder, size, failed)));
    const indexes = [];
    for (const size of numbers(options['index-sizes'])) {
      indexes.push(...(await openIndexes(options, size, failed, leftOut)));
    }
    return report(options, bases, indexes, { failed, leftOut });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** One fresh process that does `method`; undefined when it failed. */
async function inProcess(one, method, argument, failed, leftOut = []) {
  const contestants = await Contestants.start([one]);
  const result = await contestants.call(one.name, method, argument ?? {}, 900);
  contestants.end();
  failed.push(...contestants.failed);
  leftOut.push(...contestants.leftOut);
  return result;
}

async function openBases(options, folder, records, failed) {
  const out = [];
  const own = join(folder, String(records));
  mkdirSync(own, { recursive: true });
  const settings = { folder: own, records, seed: options.seed, efConstruction: options['ef-construction'] };
  for (const type of options.types.split(',')) {
    const one = {
      name: `${records} records, ${type}`,
      module: new URL('contestant.mjs', import.meta.url),
      options: { ...settings, type },
      peer: false,
    };
    const truth = options.recall && (await inProcess(one, 'truth', {}, failed));
    const bytes = await inProcess(one, 'build', {}, failed);
    const runs = [];
    // The first opening brings the files into the page cache.
    for (let round = -1; bytes && round < options.rounds; round++) {
      const run = await inProcess(one, 'open', {}, failed);
      if (!run) break;
      if (round >= 0) runs.push(run);
    }
    if (runs.length > 0) out.push(base(records, type, bytes, runs, truth));
    if (runs.length > 0) console.log(`${one.name}: opened`);
  }
  rmSync(own, { recursive: true, force: true });
  return out;
}

function base(records, type, bytes, runs, truth) {
  const [{ resident, hits }] = runs;
  const row = {
    records,
    type,
    open: median(runs.map((run) => run.open)),
    first: median(runs.map((run) => run.firstAnswer)),
    index: bytes.index / 1e6,
    resident: resident.all / 1e6,
    anonymous: (resident.anonymous ?? 0) / 1e6,
    share: resident.all / bytes.index,
  };
  if (truth) {
    const right = hits.map((found, i) => found.filter((ordinal) => truth[i].includes(ordinal)).length / 10);
    row.recall = right.reduce((sum, share) => sum + share, 0) / right.length;
  }
  return row;
}

/** Opening a graph alone, ours and the peers' in turns. */
async function openIndexes(options, rows, failed, leftOut) {
  const set = vectorSet('clusters', { rows, dimension, queries: 1000 });
  const path = indexFile(set, 'lorekeep-open');
  const list = [ours(set, 'lorekeep', { path }), ...peersNamed(options.peers, set)];
  const times = new Map();
  await inProcess(list[0], 'build', { save: true }, failed);
  for (let round = -1; round < options.rounds; round++) {
    for (const one of list) {
      if (failed.concat(leftOut).some(({ name }) => name === one.name)) continue;
      let opened = await inProcess(one, 'open', {}, failed, leftOut);
      if (!opened && round < 0 && numbers(options['peer-sizes']).includes(rows)) {
        await inProcess(one, 'build', { save: true }, failed, leftOut);
        opened = await inProcess(one, 'open', {}, failed, leftOut);
      }
      if (opened && round >= 0) times.set(one.name, [...(times.get(one.name) ?? []), opened.ms]);
    }
  }
  await inProcess(list[0], 'remove', {}, failed);
  const own = median(times.get('lorekeep') ?? []);
  return [...times].map(([name, list]) => ({ name, rows, ms: median(list), ratio: median(list) / own }));
}

function report(
  { seed, rounds, 'ef-construction': efConstruction, recall },
  bases,
  indexes,
  { failed, leftOut },
) {
  const columns = [
    { key: 'records', label: 'records', digits: 0 },
    { key: 'type', label: 'vectors' },
    { key: 'open', label: 'open ms' },
    { key: 'first', label: 'first answer ms' },
    { key: 'index', label: 'index MB', digits: 0 },
    { key: 'resident', label: 'resident MB', digits: 0 },
    { key: 'share', label: 'resident / index', digits: 2 },
    { key: 'anonymous', label: 'memory alone MB', digits: 0 },
    ...(recall ? [{ key: 'recall', label: 'recall@10', digits: 3 }] : []),
  ];
  const failures = failed.map(({ name, reason }) => ({ records: name, name, failed: reason }));
  const whole = {
    id: 'open',
    title: 'Opening a whole knowledge base',
    columns,
    rows: [...bases, ...failures],
  };
  const alone = {
    id: 'open-index',
    title: 'Opening a vector index alone, to the first answer',
    columns: [
      { key: 'name', label: '' },
      { key: 'rows', label: 'rows', digits: 0 },
      { key: 'ms', label: 'ms' },
      { key: 'ratio', label: 'theirs / ours', digits: 2 },
    ],
    rows: indexes,
  };
  const names = [...new Set(indexes.map(({ name }) => name))];
  const series = [
    {
      name: 'lorekeep, whole',
      points: pointsOf(
        bases.filter(({ type }) => type === bases[0].type),
        'records',
        'first',
      ),
    },
    ...names.map((name) => ({
      name: name === 'lorekeep' ? 'lorekeep, vectors' : name,
      points: pointsOf(
        indexes.filter((one) => one.name === name),
        'rows',
        'ms',
      ),
    })),
  ];
  return {
    data: `made-up records of 60 words, ${dimension} dimensions, seed ${seed}, ef_construction ${efConstruction}, ${rounds} openings each`,
    tables: [whole, alone].filter(({ rows }) => rows.length > 0),
    curves: [{ chart: 'open-size', panel: 'to the first answer', series }],
    leftOut,
    failed,
  };
}

function pointsOf(rows, x, y) {
  return rows.map((row) => ({ x: row[x], y: row[y] }));
}
