// Search engines as a user meets them: the time to make the index of a collection, the time from the start of a process to its first
// answer, its memory then, queries per second and nDCG@10. Each engine is set up as the first page of its documentation does, and
// every step is a process of its own.
//
// Each index is made once; then the engines take turns, --rounds times, and medians count. nDCG@10 is the first round's, which
// asks every query. Caveats: one caller, one query at a time. An engine that only finds words is faster than one that embeds the
// query, and finds less. node-llama-cpp embeds the documents with a context per core, its best configuration for many texts.
//
//   node bench/whole/main.mjs [--collection cranfield] [--rounds 5] [--seconds 1] [--engines lorekeep,minisearch]
//
// On two quiet cores it takes about six minutes, most of them to embed with node-llama-cpp; a step that takes longer than --limit seconds is ended, and its engine failed.
import { rmSync } from 'node:fs';
import { dataFolder } from '../harness/cache.mjs';
import { median } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { collectionsPresent, readCollection } from '../quality/collections.mjs';
import { Contest } from './contest.mjs';
import { engines } from './engines.mjs';

const columns = [
  { key: 'name', label: '' },
  { key: 'finds', label: 'finds by' },
  { key: 'build', label: 'index made, s', digits: 2 },
  { key: 'first', label: 'first answer, s', digits: 2 },
  { key: 'memory', label: 'memory, MB', digits: 0 },
  { key: 'rate', label: 'queries/s', digits: 0 },
  { key: 'ndcg', label: 'nDCG@10', digits: 3 },
];
const defaults = {
  collection: 'cranfield',
  rounds: 5,
  seconds: 1,
  limit: 600,
  engines: engines.map(({ id }) => id).join(','),
};

await runTrial('whole', defaults, async ({ collection: name, rounds, seconds, limit, engines: wanted }) => {
  if (!collectionsPresent())
    return { leftOut: [{ name: 'whole', reason: `no collections under ${dataFolder}` }] };
  const contest = new Contest(readCollection(name), seconds, limit);
  try {
    const chosen = engines.filter(({ id }) => wanted.split(',').includes(id));
    const entrants = chosen.map((engine) => ({ ...engine, runs: [] }));
    for (const entrant of entrants) await contest.turn(entrant, () => contest.build(entrant));
    for (let round = 0; round < rounds; round++)
      for (const entrant of entrants.filter(({ fell }) => !fell))
        await contest.turn(entrant, () => contest.answer(entrant));
    const { documents, queries } = contest.collection;
    const title = `Whole engines: ${name}, ${documents.length} documents, ${queries.length} queries`;
    const rows = entrants.filter(({ fell }) => !fell).map(row);
    const data = `${name}, ${documents.length} documents, ${queries.length} queries; medians of ${rounds}`;
    return {
      tables: [{ id: 'whole', title, columns, rows }],
      failed: contest.failed,
      leftOut: contest.leftOut,
      data,
    };
  } finally {
    rmSync(contest.folder, { recursive: true, force: true });
  }
});

function row({ name, finds, build, ndcg: quality, runs }) {
  const middle = (pick) => median(runs.map(pick));
  return {
    name,
    finds,
    build,
    first: middle((run) => run.firstMs) / 1000,
    memory: middle((run) => run.memory) / 1e6,
    rate: middle((run) => run.rate),
    ndcg: quality,
  };
}
