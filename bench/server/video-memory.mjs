// From a client's VideoMemoryRequest to the reply, when no model is on the GPU any more: with an idle model, with one that is
// being loaded, with replies in progress, in the middle of a long prompt, and while texts are embedded. Says how many requests came in time, that is, within
// 1 s. The clock is the client's, on loopback. A driver compiles a kernel in the first step that uses it, which no program can
// end: before the rounds, each kind of work runs once to its end.
//
//   node bench/server/video-memory.mjs [--rounds 20] [--streams 4] [--plugin stand-in|vulkan|cuda|hip]
//                                      [--model "SmolLM2-135M Q4_1"|FILE.gguf] [--prompt 3000] [--embed 500]
//                                      [--context 4096] [--verbose]
//
// `stand-in` (default): the plugin of the tests, which has memory of its own and computes on the processor; the benchmark also
// checks that it holds no byte. It needs a C++ compiler. Others: a plugin that `npm run build:vulkan` or the like has made; with
// LOREKEEP_SOFTWARE_GPU=1 llvmpipe will do. On a software rasteriser, steps take as long as the processor needs; a driver's own
// time to free memory is in the numbers of a real device only. `--streams 0`, `--prompt 0` and `--embed 0` leave those situations out.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { standInFolder } from '../../test/helpers/stand-in-plugin.mjs';
import { languageModel } from '../generation/models.mjs';
import { cached, root } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { connect } from '../lorekeep.mjs';
import { percentile, startServer, wait } from './server-process.mjs';

const { values } = commandLine({
  options: {
    rounds: { type: 'string', default: '20' },
    streams: { type: 'string', default: '4' },
    plugin: { type: 'string', default: 'stand-in' },
    model: { type: 'string', default: 'SmolLM2-135M Q4_1' },
    prompt: { type: 'string', default: '3000' },
    embed: { type: 'string', default: '500' },
    context: { type: 'string', default: '4096' },
    verbose: { type: 'boolean', default: false },
  },
});
const [rounds, streams, promptTokens, embedTexts] = [
  values.rounds,
  values.streams,
  values.prompt,
  values.embed,
].map(Number);
/** The most that a reply may take, in ms. */
const limitMs = 1000;
const standIn = values.plugin === 'stand-in';
const backend = standIn ? 'vulkan' : values.plugin;

const folder = cached('server', 'video-memory');
mkdirSync(folder, { recursive: true });
const catalog = join(folder, 'models.json');
const models = [
  {
    name: 'speaker',
    model_type: 'llm',
    variants: [{ file: await modelFile(), context_size: Number(values.context), placement: 'vram' }],
  },
  {
    name: 'embedder',
    model_type: 'embedding',
    variants: [{ file: join(root, 'data', 'models', 'all-MiniLM-L6-v2.gguf'), placement: 'vram' }],
  },
];
writeFileSync(catalog, JSON.stringify({ version: 1, models }));
const bytesFile = join(folder, 'bytes');
const env = standIn
  ? { LOREKEEP_BACKENDS: standInFolder(cached('server', 'stand-in')), STAND_IN_TELLS: bytesFile }
  : {};
const server = await startServer(
  folder,
  {
    models_catalog_path: catalog,
    // An embedding model returns to the GPU only when it is loaded again.
    embedding_model_idle_timeout: 1,
    // Cells for all replies at a time, also of a model with a small context.
    engines: { llm_engine: { backend, inference: { kv_cells: Number(values.context) } } },
  },
  [],
  { env: { ...process.env, ...env } },
);
const client = await connect({ port: server.port });
const session = await client.createSession();
const params = { model: 'speaker', system: '', on_no_knowledge: 'answer', temperature: 0 };
const graphOf = (max_tokens) => ({
  nodes: [{ id: 'a', type: 'generate', params: { ...params, max_tokens } }],
});
const [short, long] = [graphOf(4), graphOf(400)];

async function modelFile() {
  if (existsSync(values.model)) return resolve(values.model);
  const { path, reason } = await languageModel(values.model);
  if (path === undefined) throw new Error(`${values.model}: ${reason}`);
  return path;
}

/** Devices of the models in memory, by name. */
async function devices() {
  const { models: listed } = await session.listModels();
  return new Map(listed.flatMap(({ name, loaded, device }) => (loaded ? [[name, device]] : [])));
}

/** Waits until a model is on a device that passes the test. `device`: undefined if it is not in memory. */
async function untilPlaced(name, test) {
  while (!test((await devices()).get(name))) await wait(5);
}

const words = (count, seed) => Array.from({ length: count }, (_, n) => `${(n * seed) % 10}`).join(' ');

/** Runs a turn of a new agent. `began` resolves with its first event of a type; `ended` with the code of the error that ended it. */
function turn(text, type, graph = long) {
  let ended;
  const began = new Promise((done) => {
    const run = async () => {
      const agent = await session.createAgent({ graph });
      let last;
      for await (const event of agent.stream(text)) {
        if (event.type === type) done();
        last = event;
      }
      await agent.destroy();
      return last.error?.code;
    };
    ended = run()
      .catch((error) => error.code)
      .finally(done);
  });
  return { began, ended };
}

/** Each starts work on the GPU, and returns promises of the error codes with which it ends. */
const situations = {
  'an idle model': async () => {
    await turn('Hello.', undefined, short).ended;
    return [];
  },
  'a model that is being loaded': async () => {
    const { ended } = turn('Hello.', undefined, short);
    await wait(20);
    return [ended];
  },
  ...(streams > 0 && {
    [streams === 1 ? 'a reply in progress' : `${streams} replies in progress`]: async (round) => {
      const turns = Array.from({ length: streams }, (_, n) =>
        turn(`Tell me story ${round}, ${n}.`, 'TurnText'),
      );
      await Promise.all(turns.map(({ began }) => began));
      return turns.map(({ ended }) => ended);
    },
  }),
  ...(promptTokens > 0 && {
    [`a prompt of about ${promptTokens} tokens`]: async (round) => {
      await turn('Hello.', undefined, short).ended;
      const { began, ended } = turn(words(promptTokens / 2, round * 7 + 1), 'TurnStarted');
      await began;
      await wait(100);
      return [ended];
    },
  }),
  ...(embedTexts > 0 && {
    [`embedding of ${embedTexts} texts`]: async (round) => {
      const strings = Array.from({ length: embedTexts }, (_, n) => `${n} ${words(40, round * 11 + n + 1)}`);
      const name = `texts-${round}`;
      const made = session.createEmbeddedStringStorage({ name, strings, embeddingModel: 'embedder' });
      const ended = made
        .then(() => session.destroyEmbeddedStringStorage(name))
        .then(
          () => undefined,
          (error) => error.code,
        );
      await Promise.race([untilPlaced('embedder', (device) => device && device !== 'CPU'), ended]);
      return [
        ended.then((code) => untilPlaced('embedder', (device) => device === undefined).then(() => code)),
      ];
    },
  }),
};

const cells = (...texts) => console.log(`| ${texts.join(' | ')} |`);
cells('work on the GPU', 'rounds', 'median, ms', 'longest, ms', 'in time', 'replies ended by it');
cells('---', '---', '---', '---', '---', '---');
let late = 0;
try {
  for (const [title, start] of Object.entries(situations)) late += await measure(title, start);
} finally {
  await client.close();
  await server.stop();
}
process.exitCode = late > 0 ? 1 : 0;

async function checkDevices(title) {
  const left = [...(await devices()).values()].filter((device) => device !== 'CPU');
  if (left.length > 0) throw new Error(`${title}: a model is still on ${left[0]}`);
}

/** Prints a row. Returns how many replies came late. */
async function measure(title, start) {
  const times = [];
  let cut = 0;
  await Promise.all(await start(0));
  for (let round = 1; round <= rounds; round++) {
    const running = await start(round);
    const began = performance.now();
    await client.allowVideoMemory(false);
    times.push(performance.now() - began);
    if (values.verbose) console.error(`${title}, round ${round}: ${times.at(-1).toFixed(0)} ms`);
    const held = standIn ? Number(readFileSync(bytesFile, 'utf8')) : 0;
    if (held > 0) throw new Error(`${title}: ${held} bytes of video memory are still taken`);
    await checkDevices(title);
    for (const code of await Promise.all(running)) {
      if (code === 5011) cut++;
      else if (code !== undefined) throw new Error(`${title}: the work failed with error ${code}`);
    }
    await checkDevices(title);
    await client.allowVideoMemory(true);
  }
  const inTime = times.filter((ms) => ms <= limitMs).length;
  const at = (share) => percentile(times, share).toFixed(0);
  cells(title, rounds, at(0.5), at(1), `${inTime} of ${rounds}`, cut);
  return rounds - inTime;
}
