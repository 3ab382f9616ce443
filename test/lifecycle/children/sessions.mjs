// argv: folder with catalog.json (model "tiny") and kb.json, sessions per round, rounds. Needs --expose-gc. Runs a server and
// clients that come and go in four ways, and reports after each round what is left of them.
import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { connect } from 'lorekeep/client';
import { configSchema } from '../../../dist/src/config/schema.js';
import { silentLog } from '../../../dist/src/log/log.js';
import { LorekeepServer } from '../../../dist/src/server/server.js';

const [folder, perRound, rounds] = process.argv.slice(2);
const perConnection = 25;
const config = configSchema.parse({
  port: 0,
  models_catalog_path: `${folder}/catalog.json`,
  storage_root: folder,
  log_level: 'error',
});
const server = await LorekeepServer.start({ config, log: silentLog() });
const { port } = server;

const strings = ['Honey bees dance in the hive', 'Glaciers grind valleys'];
const graph = {
  nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'kb.json', mode: 'hybrid' } }],
};

/** What a client does with a session, by turns; none of them cleans up, but for the last. */
const visits = [
  async (session) => session.createEmbeddedStringStorage({ name: 'own', strings, embeddingModel: 'tiny' }),
  async (session) => (await session.createAgent({ graph })).turn('do bees dance?'),
  async (session) => session.createEmbeddedStringStorage({ name: 'kb', configPath: 'kb.json' }),
  async (session) => {
    const agent = await session.createAgent({ graph });
    await agent.turn('glaciers?');
    await agent.destroy();
    await session.destroy();
  },
];

async function politeClient() {
  const client = await connect({ port });
  for (let i = 0; i < perConnection; i++) await visits[i % visits.length](await client.createSession());
  await client.close();
}

/** Asks for a session and a turn and is gone before the answer to the turn. */
async function vanishingClient() {
  const client = await connect({ port });
  for (let i = 0; i < perConnection; i++) {
    const session = await client.createSession();
    const agent = await session.createAgent({ graph });
    agent.turn('do bees dance?').catch(() => {});
    session.createEmbeddedStringStorage({ name: 'own', strings, embeddingModel: 'tiny' }).catch(() => {});
  }
  await client.close();
}

/** Sends half a frame and resets the connection. */
async function rudeClient() {
  const socket = openSocket({ host: '127.0.0.1', port });
  await once(socket, 'data');
  socket.write(Buffer.from([1, 0, 0, 1, 0, 123]));
  socket.resetAndDestroy();
}

async function settled() {
  while (server.connections > 0) await new Promise(setImmediate);
  for (let i = 0; i < 4; i++) {
    globalThis.gc();
    await new Promise(setImmediate);
  }
}

for (let round = 0; round < rounds; round++) {
  for (let made = 0; made < perRound; made += 2 * perConnection) {
    await Promise.all([politeClient(), vanishingClient(), rudeClient()]);
  }
  await settled();
  const { heapUsed, rss } = process.memoryUsage();
  process.send({
    heap: heapUsed / 2 ** 20,
    rss: rss / 2 ** 20,
    handles: process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length,
    storages: server.storages,
  });
}
await server.close();
process.disconnect();
