// argv: port, name of an attack, milliseconds, seed, words, port of the HTTP doors, code of the page. Runs the attack's lanes until the time is up, and sends
// wrong answers that they find.
import { Random } from '../random.mjs';
import { attackList } from './list.mjs';
import { Peer } from './peer.mjs';

const [port, name, ms, seed, words, door, code] = process.argv.slice(2);
const attack = attackList.find((known) => known.name === name);
const random = new Random(Number(seed));
const until = Date.now() + Number(ms);
const alive = () => Date.now() < until;
const peers = new Set();
const vocabulary = words.split(' ');
const pause = (time) => new Promise((done) => setTimeout(done, time));
/** Most wrong answers that are told. */
let left = 3;
const tools = {
  door: Number(door),
  code,
  found: (problem) => {
    if (left-- > 0) process.send?.(problem);
  },
  alive,
  pause,
  word: () => random.of(vocabulary),
  async open() {
    const peer = await Peer.open(Number(port));
    peers.add(peer);
    return peer;
  },
};

process.on('disconnect', () => process.exit());
setTimeout(() => process.exit(), Number(ms)).unref();
await Promise.all(
  Array.from({ length: attack.lanes }, async (_, lane) => {
    while (alive()) {
      await attack.lane({ ...tools, lane }).catch(() => {});
      await pause(10); // a client that is refused at once does not spin
    }
  }),
);
process.exit();
