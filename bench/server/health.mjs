// What /health takes while a language model reads a long prompt: on the ports of the metrics and of the monitor, each check on a
// connection of its own, one after another. A turn in advance loads the model. The client shares the machine with the server.
//
//   node bench/server/health.mjs [--runtime auto|llama.cpp|decoder] [--tokens 8000] [--prefills 2] [--model "SmolLM2-135M Q4_1"]
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { languageModel } from '../generation/models.mjs';
import { cached } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { connect } from '../lorekeep.mjs';
import { knowledgeBase } from './knowledge-base.mjs';
import { percentile, startServer, wait } from './server-process.mjs';

const { values } = commandLine({
  options: {
    runtime: { type: 'string', default: 'auto' },
    tokens: { type: 'string', default: '8000' },
    prefills: { type: 'string', default: '2' },
    model: { type: 'string', default: 'SmolLM2-135M Q4_1' },
  },
});
/** The most that a check may take, in ms. */
const limitMs = 50;
/** Room for the chat template and the reply. */
const spare = 64;

const { folder } = await knowledgeBase(100);
const { path: file, reason } = await languageModel(values.model);
if (file === undefined) throw new Error(`${values.model}: ${reason}`);
const catalog = cached('server', 'health-models.json');
const tokens = Number(values.tokens);
const model = { name: 'speaker', model_type: 'llm', variants: [{ file, context_size: tokens + spare }] };
writeFileSync(catalog, JSON.stringify({ version: 1, models: [model] }));
const on = { enabled: true, port: 0 };
const server = await startServer(folder, {
  ...{ models_catalog_path: catalog, metrics: on, monitor: on },
  engines: { llm_engine: { inference: { runtime: values.runtime } } },
});
const session = await (await connect({ port: server.port })).createSession();
const params = { model: 'speaker', max_tokens: 1 };
const agent = await session.createAgent({ graph: { nodes: [{ id: 'a', type: 'generate', params }] } });
const words = (count, seed) => Array.from({ length: count }, (_, n) => `${(n * seed) % 10}`).join(' ');
await agent.turn('Hello.');

const urls = [...server.printed().matchAll(/"url":"(http:[^"]+?)(?:metrics)?"/g)].map(([, url]) => url);
if (urls.length !== 2) throw new Error('the server does not say its ports');
let reads = true;
const times = Object.fromEntries(urls.map((url) => [url, []]));
const checks = urls.map(async (url) => {
  while (reads) {
    times[url].push(await check(`${url}health`));
    await wait(2);
  }
});
const prompts = [];
for (let prefill = 1; prefill <= Number(values.prefills); prefill++) {
  const started = performance.now();
  // Each word is a digit and a space: two tokens, the beginning of each prompt is new.
  const turn = await agent.turn(words(tokens / 2 - spare / 2, prefill));
  if (turn.status !== 'completed') throw new Error(JSON.stringify(turn.error));
  prompts.push({ tokens: turn.usage, ms: performance.now() - started });
}
reads = false;
await Promise.all(checks);
for (const { tokens, ms } of prompts)
  console.log(`prefill: ${JSON.stringify(tokens)} in ${(ms / 1000).toFixed(1)} s`);
const slowest = urls.map((url) => {
  const at = (share) => percentile(times[url], share).toFixed(1);
  console.log(
    `${url}health: ${times[url].length} checks, median ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`,
  );
  return Math.max(...times[url]);
});
await server.stop();
if (slowest.some((ms) => ms > limitMs)) console.log(`a check took more than ${limitMs} ms`);
process.exit(slowest.some((ms) => ms > limitMs) ? 1 : 0);

/** Milliseconds of one check. */
function check(url) {
  const started = performance.now();
  return new Promise((done, failed) => {
    const asked = request(url, { agent: false }, (response) => {
      if (response.statusCode !== 200) failed(new Error(`${url} answers ${response.statusCode}`));
      response.resume().once('end', () => done(performance.now() - started));
    });
    asked.once('error', failed).end();
  });
}
