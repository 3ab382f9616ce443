// Clients that come, work, go, misbehave and vanish, for ten minutes, against a server in its own process. Says every half
// minute what the server holds; ends with status 1 when memory went on growing or handles stayed open.
//
//   node bench/server/soak.mjs [--minutes 10] [--records 2000] [--seed 1]
//
// Anonymous memory alone is judged: pages of mapped files come and go as the kernel likes. The first third of the run brings
// allocators and compiled code to their working size.
import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { parseArgs } from 'node:util';
import { connect } from '../lorekeep.mjs';
import { knowledgeBase, modelName } from './knowledge-base.mjs';
import { startServer, wait } from './server-process.mjs';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    records: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
  },
});
const [minutes, records, seed] = ['minutes', 'records', 'seed'].map((name) => Number(values[name]));
/** Clients at once. */
const crowd = 12;
/** MiB that the last two thirds may add: allocators keep some. */
const slackMiB = 16;

let state = seed;
function random(below) {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

const { folder, questions } = await knowledgeBase(records);
const server = await startServer(folder);
const graph = {
  nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'kb.json', mode: 'hybrid' } }],
};
const ask = () => questions[random(questions.length)];
const counts = {};

/** An ordinary visit: storages, an agent, turns, in order. */
async function works() {
  const client = await connect({ port: server.port });
  const session = await client.createSession();
  const strings = Array.from({ length: 1 + random(40) }, ask);
  await session.createEmbeddedStringStorage({ name: 'own', strings, embeddingModel: modelName });
  const agent = await session.createAgent({ graph, enableDiagnostics: random(2) === 0 });
  for (let turn = random(10); turn >= 0; turn--) await agent.turn(ask());
  await session.search({ name: 'own', text: ask(), mode: 'lexical' });
  await client.close();
}

/** Leaves in the middle of everything. */
async function vanishes() {
  const client = await connect({ port: server.port });
  const session = await client.createSession();
  const strings = Array.from({ length: 500 }, ask);
  session.createEmbeddedStringStorage({ name: 'own', strings, embeddingModel: modelName }).catch(() => {});
  const agent = await session.createAgent({ graph });
  for (let turn = 0; turn < 5; turn++) agent.turn(ask()).catch(() => {});
  await client.close();
}

/** Cancels what it asked for. */
async function cancels() {
  const client = await connect({ port: server.port });
  const agent = await (await client.createSession()).createAgent({ graph });
  for (let turn = 0; turn < 5; turn++) {
    const abort = new AbortController();
    const taken = agent.turn(ask(), { signal: abort.signal }).catch(() => {});
    setImmediate(() => abort.abort());
    await taken;
  }
  await client.close();
}

/** Asks for what is refused. */
async function errs() {
  const client = await connect({ port: server.port });
  const session = await client.createSession();
  const refused = [
    session.createEmbeddedStringStorage({ name: '../x', strings: ['a'], embeddingModel: modelName }),
    session.createEmbeddedStringStorage({ name: 'x', configPath: '../../etc/passwd.json' }),
    session.search({ name: 'absent', text: 'x' }),
    session.createAgent({ graph: { nodes: [{ id: 'a', type: 'nothing' }] } }),
  ];
  await Promise.allSettled(refused);
  await client.close();
}

/** Sends random bytes, half a frame, or a frame that is announced as huge; then resets, or waits to be dropped. */
async function misbehaves() {
  const socket = openSocket({ host: '127.0.0.1', port: server.port });
  socket.on('error', () => {});
  const closed = once(socket, 'close').catch(() => {});
  await once(socket, 'data');
  const kinds = [
    () => Buffer.from(Array.from({ length: 200 }, () => random(256))),
    () => Buffer.from([1, 0, 0, 1, 0, 123, 34]),
    () => Buffer.from([1, 255, 255, 255, 255]),
    () => Buffer.concat([Buffer.from([1, 0, 0, 0, 5]), Buffer.from('{"a":')]),
  ];
  socket.write(kinds[random(kinds.length)]());
  socket.resume();
  if (random(2) === 0) socket.resetAndDestroy();
  else socket.end();
  await closed;
}

const visits = [works, works, works, vanishes, cancels, errs, misbehaves];
const until = performance.now() + minutes * 60_000;

async function keepVisiting() {
  while (performance.now() < until) {
    const visit = visits[random(visits.length)];
    await visit();
    counts[visit.name] = (counts[visit.name] ?? 0) + 1;
  }
}

await works();
await wait(1000);
const before = { handles: server.handles(), threads: server.threads() };
const samples = [];
const every = Math.min(30_000, minutes * 5000);
const begin = performance.now();
const sampling = setInterval(() => {
  const { anonymous, resident } = server.memory();
  samples.push(anonymous / 1024);
  const at = Math.round((performance.now() - begin) / 1000);
  const visited = Object.values(counts).reduce((sum, count) => sum + count, 0);
  console.log(
    `${String(at).padStart(4)} s  ${String(visited).padStart(7)} visits  ${(anonymous / 1024).toFixed(1)} MiB anonymous, ` +
      `${(resident / 1024).toFixed(1)} resident  ${server.handles()} handles  ${server.threads()} threads`,
  );
}, every);
await Promise.all(Array.from({ length: crowd }, keepVisiting));
clearInterval(sampling);
await wait(3000);
const after = { handles: server.handles(), threads: server.threads() };
const grown = samples.length < 3 ? 0 : samples.at(-1) - samples[Math.floor(samples.length / 3)];
const code = await server.stop();
console.log(`visits: ${JSON.stringify(counts)}`);
console.log(
  `handles ${before.handles} -> ${after.handles}, threads ${before.threads} -> ${after.threads}, exit status ${code}`,
);
console.log(`anonymous memory over the last two thirds: ${grown >= 0 ? '+' : ''}${grown.toFixed(1)} MiB`);
process.exit(code === 0 && after.handles <= before.handles && grown <= slackMiB ? 0 : 1);
