// Search engines as a user meets them: the size of `npm install`, the time to make the index of a collection, the time from the
// start of a process to its first answer, its memory then, queries per second and nDCG@10. Each engine is set up as the first
// page of its documentation does, and every step is a process of its own. Engines take turns; medians of --rounds.
//
// Caveats: one caller, one query at a time. An engine that only finds words is faster than one that embeds the query, and finds
// less. "install" is measured with --install, which needs the registry: an empty project, install scripts off; lorekeep's is its
// packed tarball (`npm run prebuild` first).
//
//   node bench/whole/main.mjs [--collection cranfield] [--rounds 3] [--install] [--engines lorekeep,minisearch]
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataFolder } from '../harness/cache.mjs';
import { runTrial } from '../harness/trial.mjs';
import { collectionsPresent, readCollection } from '../quality/collections.mjs';
import { mean, ndcg } from '../quality/measures.mjs';
import { engines } from './engines.mjs';
import { installSize, sizesOnly } from './install.mjs';

const depth = 10;
const limitMs = 900_000;
const columns = [
  { key: 'name', label: '' },
  { key: 'finds', label: 'finds by' },
  { key: 'install', label: 'install, MB', digits: 0 },
  { key: 'build', label: 'index made, s', digits: 2 },
  { key: 'first', label: 'first answer, s', digits: 2 },
  { key: 'memory', label: 'memory, MB', digits: 0 },
  { key: 'rate', label: 'queries/s', digits: 0 },
  { key: 'ndcg', label: 'nDCG@10', digits: 3 },
];

const defaults = {
  collection: 'cranfield',
  rounds: 3,
  install: false,
  engines: engines.map(({ id }) => id).join(','),
};

await runTrial('whole', defaults, async ({ collection: name, rounds, install, engines: wanted }) => {
  if (!collectionsPresent())
    return { leftOut: [{ name: 'whole', reason: `no collections under ${dataFolder}` }] };
  const collection = readCollection(name);
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-whole-'));
  const [failed, leftOut] = [[], []];
  try {
    let entrants = engines
      .filter(({ id }) => wanted.split(',').includes(id))
      .map((engine) => ({ ...engine, runs: [] }));
    for (let round = 0; round < rounds; round++) {
      for (const entrant of entrants) {
        await measure(entrant, collection, join(folder, `${entrant.id}-${round}`)).catch((error) => {
          entrant.fell = true;
          (/^Cannot find package/.test(error.message) ? leftOut : failed).push({
            name: entrant.name,
            reason: error.message,
          });
        });
      }
      entrants = entrants.filter(({ fell }) => !fell);
    }
    const rows = [];
    for (const entrant of entrants)
      rows.push({ ...row(entrant), install: install ? await installSize(entrant.packages) : undefined });
    if (install)
      for (const { name: label, packages } of sizesOnly)
        rows.push({ name: label, install: await installSize(packages) });
    const { documents, queries } = collection;
    const title = `Whole engines: ${name}, ${documents.length} documents, ${queries.length} queries`;
    return { tables: [{ id: 'whole', title, columns, rows }], failed, leftOut, data: `${name}, all queries` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Makes the index in one process, asks in another. */
async function measure(entrant, { documents, queries, gains }, folder) {
  const texts = documents.map(({ text }) => text);
  const { ms: build } = await step({ engine: entrant.id, step: 'build', folder, texts });
  const questions = queries.map(({ text }) => text);
  const answer = await step({
    engine: entrant.id,
    step: 'answer',
    folder,
    questions,
    depth,
    rows: texts.length,
  });
  const scores = answer.found.map((rows, i) =>
    ndcg(
      rows.map((at) => documents[at].id),
      gains.get(queries[i].id),
      depth,
    ),
  );
  entrant.runs.push({ ...answer, build, ndcg: mean(scores) });
}

/** Runs one step in a process; `firstMs` counts from its start. */
function step(task) {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    const child = fork(new URL('step.mjs', import.meta.url), { serialization: 'advanced' });
    const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
    let firstMs;
    child.on('message', (message) => {
      if (message.ready) child.send(task);
      else if (message.first) firstMs = performance.now() - begin;
      else if (message.error) reject(new Error(message.error));
      else resolve({ ...message, firstMs });
    });
    child.on('exit', (code, signal) => {
      clearTimeout(late);
      reject(new Error(`the process ended with ${signal ?? code}`));
    });
  });
}

function row({ name, finds, runs }) {
  const median = (pick) => runs.map(pick).toSorted((a, b) => a - b)[Math.floor(runs.length / 2)];
  return {
    name,
    finds,
    build: median((run) => run.build) / 1000,
    first: median((run) => run.firstMs) / 1000,
    memory: median((run) => run.memory) / 1e6,
    rate: median((run) => run.rate),
    ndcg: median((run) => run.ndcg),
  };
}
