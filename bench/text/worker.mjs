// One engine in a process of its own: builds when told, then answers batches of queries.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TextIndex } from '../lorekeep.mjs';
import { readCorpus } from './corpus.mjs';
import { lancedb } from './engines/lancedb.mjs';
import { lorekeep } from './engines/lorekeep.mjs';
import { minisearch } from './engines/minisearch.mjs';
import { sqlite } from './engines/sqlite.mjs';

const engines = {
  'lorekeep basic': (texts) => lorekeep(texts, { tokenizer: 'basic' }),
  'lorekeep enhanced': (texts) => lorekeep(texts, { tokenizer: 'enhanced' }),
  'lorekeep multilingual': (texts) => lorekeep(texts, { tokenizer: 'multilingual' }),
  lancedb: (texts) => lancedb(texts),
  sqlite: (texts) => sqlite(texts),
  minisearch: (texts) => minisearch(texts),
};
const hits = 10;
const openings = 7;
const [, , name, documents, queryCount] = process.argv;
const { texts, queries } = await readCorpus(Number(documents), Number(queryCount));
let engine;
let next = 0;

const commands = {
  async build() {
    const cpu = process.cpuUsage();
    const begin = performance.now();
    engine = await engines[name](texts);
    const buildMs = engine.indexMs ?? performance.now() - begin;
    const { user, system } = process.cpuUsage(cpu); // LanceDB: the table as well
    return { buildMs, buildCpuMs: (user + system) / 1000, ...(engine.save ? await opening() : {}) };
  },
  /** Asks one query after the other until `ms` have passed. */
  async ask({ ms }) {
    const latencies = [];
    const cpu = process.cpuUsage();
    const begin = performance.now();
    let now = begin;
    while (now - begin < ms) {
      await engine.search(queries[next++ % queries.length], hits);
      const after = performance.now();
      latencies.push(after - now);
      now = after;
    }
    const { user, system } = process.cpuUsage(cpu);
    return { latencies, wallMs: now - begin, cpuMs: (user + system) / 1000 };
  },
  async close() {
    await engine.close();
    return {};
  },
};

/** How long the saved index takes to open, the page cache being warm. */
async function opening() {
  const path = join(tmpdir(), `lorekeep-bench-${process.pid}.bm25`);
  await engine.save(path);
  const times = [];
  for (let i = 0; i < openings; i++) {
    const begin = performance.now();
    const index = await TextIndex.load(path);
    times.push(performance.now() - begin);
    await index.close();
  }
  rmSync(path);
  return { openMs: times.sort((a, b) => a - b)[Math.floor(openings / 2)] };
}

process.on('message', async ({ command, ...rest }) => {
  process.send(await commands[command](rest));
  if (command === 'close') process.disconnect();
});
process.send({ ready: true });
