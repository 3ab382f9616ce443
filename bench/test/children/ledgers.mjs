// argv: folder. Runs each attack of the reliability campaign for a moment against one server with a small heap, closes the attackers'
// connections, and prints per attack what the server still counts beyond what it counted before, as a line of JSON.
import { join } from 'node:path';
import { attackList } from '../../reliability/attacks/list.mjs';
import { Peer } from '../../reliability/attacks/peer.mjs';
import { Random } from '../../reliability/random.mjs';
import { Sample } from '../../reliability/sample.mjs';
import { startServer } from '../../server/server-process.mjs';

const attackMs = 100;
const lastLook = 120_000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const sample = await new Sample(join(process.argv[2], 'kb'), { seed: 1, records: 300 }).write();
await sample.build();
const settings = { models_catalog_path: sample.at('models.json'), log_level: 'info' };
const server = await startServer(sample.folder, settings, ['--max-old-space-size=160']);
const watcher = await Peer.open(server.port);
const counted = async () => (await watcher.request({ type: 'StatusRequest', id: 1 }))?.server.by_kind;
const before = await counted();

for (const attack of attackList) {
  // It burns the processors and asks the server for nothing.
  if (attack.name.startsWith('other programs')) continue;
  // This server has no HTTP doors; test/doors looks at what their clients leave behind.
  if (attack.door) continue;
  await run(attack);
  const late = Date.now() + lastLook;
  let left = await beyond();
  while (Object.keys(left).length > 0 && Date.now() < late && server.running()) {
    await pause(20);
    left = await beyond();
  }
  console.log(JSON.stringify({ attack: attack.name, left, running: server.running() }));
  if (!server.running()) break;
}
watcher.close();
await server.stop();
await sample.close();

async function run(attack) {
  const peers = new Set();
  const random = new Random(1);
  const until = Date.now() + attackMs;
  const alive = () => Date.now() < until;
  const open = async () => {
    const peer = await Peer.open(server.port);
    peers.add(peer);
    return peer;
  };
  const tools = { alive, pause, open, word: () => random.of(sample.words) };
  const lanes = Array.from({ length: attack.lanes }, (_, lane) =>
    attack.lane({ ...tools, lane }).catch(() => {}),
  );
  await Promise.race([Promise.all(lanes), pause(attackMs)]);
  for (const peer of peers) peer.close();
  await Promise.all(lanes);
  for (const peer of peers) peer.close();
}

/** Bytes by kind beyond those before the attacks. */
async function beyond() {
  const now = (await counted()) ?? {};
  return Object.fromEntries(Object.entries(now).filter(([kind, bytes]) => bytes !== before[kind]));
}
