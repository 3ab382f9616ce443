// 500 sessions that stay open mix retrieval and generation, while other clients vanish, cancel and stall. What the server holds
// and how long each class of requests takes is sampled over time; ends with status 1 if memory went on growing or handles
// stayed open.
//
//   node bench/server/soak.mjs [--minutes 60] [--sessions 500] [--active 16] [--records 2000] [--model SmolLM2-135M] [--seed 1]
//
// Anonymous and swapped memory alone are judged: pages of mapped files come and go as the kernel likes. Every 100 requests of 500 sessions
// the server collects its garbage, and what is left is the sample. The growth per 1,000 requests after a warm-up is judged
// (soak/memory-growth.mjs). `active` requests are under way at a time (a closed loop).
// Without the model's file in LOREKEEP_MODELS, a tiny one with random weights generates.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { languageModel } from '../generation/models.mjs';
import { cached, root } from '../harness/cache.mjs';
import { OptionError } from '../harness/command-line.mjs';
import { Random } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { knowledgeBase } from './knowledge-base.mjs';
import { startServer, wait } from './server-process.mjs';
import { Crowd } from './soak/crowd.mjs';
import { judgeGrowth } from './soak/memory-growth.mjs';
import { Timeline } from './soak/timeline.mjs';

/**
 * V8's space for new objects grows to 32 MiB and shrinks when the server is quiet, which would hide a leak. Without compaction
 * the holes between old objects grow for some 40,000 requests, which would look like one.
 */
const nodeFlags = ['--expose-gc', '--max-semi-space-size=1', '--compact-on-every-full-gc'];
/** Points of a curve. */
const points = 30;
/** Samples of the memory while each session has one request. */
const weighings = 5;

const defaults = {
  minutes: 60,
  sessions: 500,
  active: 16,
  records: 2000,
  model: 'SmolLM2-135M Q4_1',
  seed: 1,
};

await runTrial('soak', defaults, async (options) => {
  if (options.sessions < 2 * options.active)
    throw new OptionError('--sessions: at least twice --active is expected');
  const { folder, questions } = await knowledgeBase(options.records);
  const catalog = await writeCatalog(options.model);
  const server = await startServer(
    folder,
    {
      models_catalog_path: catalog.path,
      limits: { max_connections_per_address: options.sessions + 100 },
    },
    [...nodeFlags, '--import', new URL('soak/collect.mjs', import.meta.url).href],
  );
  let collections = 0;
  server.collect = async () => {
    const printed = `collected ${++collections}\n`;
    process.kill(server.pid, 'SIGUSR2');
    while (server.running() && !server.printed().includes(printed)) await wait(20);
  };
  // A request that is never answered would keep the run from ending.
  setTimeout(
    () => {
      console.error('the run did not end within five minutes of its time: a request has no answer');
      process.kill(server.pid, 'SIGKILL');
      process.exit(1);
    },
    (options.minutes + 5) * 60_000,
  );
  const crowd = new Crowd({ port: server.port, questions, random: new Random(options.seed), ...options });
  await crowd.visitOnce();
  await wait(1000);
  const before = { handles: server.handles(), threads: server.threads() };
  await crowd.open();
  console.log(`${options.sessions} sessions are open; ${catalog.model} generates`);
  const timeline = new Timeline(server, crowd, {
    everyMs: (options.minutes * 60_000) / points,
    everyRequests: Math.ceil(options.sessions / weighings),
  });
  await crowd.work(performance.now() + options.minutes * 60_000);
  await timeline.end();
  await crowd.close();
  const after = { handles: await settled(server, before.handles), threads: server.threads() };
  const code = await server.stop();
  return report(options, catalog, { timeline, crowd, before, after, code });
});

/** The package's embedding models and one language model. */
async function writeCatalog(name) {
  const shipped = join(root, 'data');
  const { models } = JSON.parse(readFileSync(join(shipped, 'models.json'), 'utf8'));
  for (const variant of models.flatMap(({ variants }) => variants))
    if (variant.file !== undefined) variant.file = join(shipped, variant.file);
  const { path: real, reason } = await languageModel(name);
  if (real === undefined) console.log(`soak: ${name} is left out: ${reason}`);
  const file = real ?? (await tinyModel());
  const path = cached('server', 'soak-models.json');
  const llm = { name: 'speaker', model_type: 'llm', variants: [{ file, context_size: 4096 }] };
  writeFileSync(path, JSON.stringify({ version: 1, models: [...models, llm] }));
  return { path, model: real === undefined ? 'a tiny model with random weights' : name };
}

async function tinyModel() {
  const { writeTinyDecoder } = await import('../../test/helpers/tiny-model/tiny-decoder.mjs');
  const path = cached('server', 'tiny-llama.gguf');
  await writeTinyDecoder('llama', path, { context: 4096 });
  return path;
}

/** Handles of the server once they are no more than `enough`, or after half a minute. */
async function settled(server, enough) {
  for (let i = 0; i < 60 && server.handles() > enough; i++) await wait(500);
  return server.handles();
}

function report({ minutes, sessions, active, records }, { model }, { timeline, crowd, before, after, code }) {
  const memory = judgeGrowth(timeline.held);
  const mib = (kib = Number.NaN) => (kib / 1024).toFixed(0);
  const failed = [];
  if (code !== 0) failed.push({ name: 'server', reason: `ended with ${code}` });
  if (after.handles > before.handles)
    failed.push({ name: 'handles', reason: `${before.handles} -> ${after.handles}` });
  if (memory.failure !== undefined) failed.push({ name: 'memory', reason: memory.failure });
  if (crowd.wrong.length > 0) failed.push({ name: 'replies', reason: crowd.wrong.slice(0, 3).join('; ') });
  const value = (name, text) => ({ name, value: text });
  const total = {
    id: 'soak-process',
    title: 'The server over the run',
    columns: [
      { key: 'name', label: '' },
      { key: 'value', label: '' },
    ],
    rows: [
      value('requests', crowd.requests.toLocaleString('en-US')),
      value('anonymous and swapped memory, most', `${mib(timeline.maxMemory())} MiB`),
      value(
        'the same after a collection, first and last sample',
        `${mib(timeline.held.at(0)?.memory)} -> ${mib(timeline.held.at(-1)?.memory)} MiB`,
      ),
      value(
        `growth of that after ${Math.round(memory.warmUp).toLocaleString('en-US')} requests, per 1,000 requests`,
        memory.slope === undefined ? 'too few samples' : growth(memory),
      ),
      value('handles before and after', `${before.handles} -> ${after.handles}`),
      value('threads before and after', `${before.threads} -> ${after.threads}`),
      ...Object.entries(crowd.visits).map(([name, count]) =>
        value(`visits: ${name}`, count.toLocaleString('en-US')),
      ),
    ],
  };
  const data = `${sessions} open sessions, ${active} requests at a time for ${minutes} minutes; ${records} records; ${model}, 16 tokens per reply`;
  return {
    data,
    failed,
    tables: [timeline.table(), total],
    curves: timeline.curves(),
    // The latencies of an hour would take a hundred megabytes, and the curves summarise them.
    detail: {
      samples: timeline.samples.map(({ latencies, ...sample }) => sample),
      held: timeline.held,
      visits: crowd.visits,
    },
  };
}

function growth({ slope, least, most, allowed }) {
  return `${slope.toFixed(1)} KiB (99 %: ${least.toFixed(1)} to ${most.toFixed(1)}; ${allowed} allowed)`;
}
