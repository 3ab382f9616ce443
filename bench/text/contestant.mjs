// One full-text engine in a process of its own: builds when told, then answers batches of queries.
import { rmSync } from 'node:fs';
import { cached } from '../harness/cache.mjs';
import { contestantOptions, serve } from '../harness/contestant.mjs';
import { median } from '../harness/numbers.mjs';
import { readTexts } from '../harness/texts.mjs';

const hits = 10;
const openings = 7;
const { engine: name, options, documents, queries: queryCount } = contestantOptions();
const build = (await import(`./engines/${name}.mjs`))[name];
const { texts, queries } = await readTexts(documents, queryCount);
let engine;
let next = 0;

serve({
  async build() {
    const cpu = process.cpuUsage();
    const begin = performance.now();
    engine = await build(texts, options);
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
  close: () => engine.close(),
});

/** How long the saved index takes to open, the page cache being warm, and then to answer a query. */
async function opening() {
  const path = cached('indexes', `${process.pid}.bm25`);
  await engine.save(path);
  const opened = [];
  const answered = [];
  for (let i = 0; i < openings; i++) {
    const begin = performance.now();
    const index = await engine.open(path);
    opened.push(performance.now() - begin);
    await index.search(queries[i], { k: hits });
    answered.push(performance.now() - begin);
    await index.close();
  }
  rmSync(path);
  return { openMs: median(opened), firstQueryMs: median(answered) };
}
