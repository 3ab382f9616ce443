// argv: port, seed, connections. Sends mutated frames, pipelined and cut anywhere, until it is told to stop; every frame must be answered
// once, and a connection must end after bytes that are no frame. Sends {sent, problems} each second and at the end.
import { connect } from 'node:net';
import { framed, hostilePayload, rightRequests } from '../../../test/helpers/hostile-frames.mjs';
import { Random } from '../random.mjs';
import { fieldMutation } from './field-mutation.mjs';
import { Line } from './line.mjs';

const [port, seed, connections] = process.argv.slice(2).map(Number);
const perConnection = 4000;
const batch = 200;
/** Unanswered frames of one connection at most: what a reader of replies is behind. */
const window = 2000;
const counts = { sent: 0, connections: 0, problems: [] };
let stopped = false;

process.on('disconnect', () => process.exit());
process.on('message', () => {
  stopped = true;
});
const telling = setInterval(() => process.send(counts), 1000);
await Promise.all(Array.from({ length: connections }, (_, n) => connectAgainAndAgain(n)));
clearInterval(telling);
process.send({ ...counts, done: true }, () => process.exit());

async function connectAgainAndAgain(lane) {
  for (let n = 0; !stopped; n++) {
    const number = n * connections + lane;
    try {
      await converse(new Random(seed * 1_000_003 + number));
      counts.connections++;
    } catch (error) {
      counts.problems.push(`connection ${number}: ${error.message}; ${await beside()}`);
      if (counts.problems.length > 20) return;
    }
  }
}

/** The state of the server as a new connection sees it. */
async function beside() {
  const line = new Line(connect({ host: '127.0.0.1', port }));
  try {
    await line.frame();
    const { connections } = await line.ask({ type: 'StatusRequest', id: 'status' });
    return `another one is answered, of ${connections}`;
  } catch (error) {
    return `another one: ${error.message}`;
  } finally {
    line.socket.destroy();
  }
}

async function converse(random) {
  const line = new Line(connect({ host: '127.0.0.1', port }));
  try {
    await line.frame();
    const { session_id } = await line.ask({ type: 'CreateSessionRequest', id: 'session' });
    const docs = { name: 'docs', strings: ['bees dance', 'glaciers grind'], embedding_model: 'tiny' };
    await line.ask({ type: 'CreateEmbeddedStringStorageRequest', id: 'docs', session_id, ...docs });
    const graph = { nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'docs' } }] };
    const { agent_id } = await line.ask({ type: 'CreateAgentRequest', id: 'agent', session_id, graph });
    const requests = rightRequests(session_id, agent_id);
    for (let sent = 0; sent < perConnection && !stopped; sent += batch) {
      const frames = Array.from({ length: batch }, () => framed(payloadOf(requests, random)));
      await line.write(Buffer.concat(frames), random);
      line.expected += batch;
      counts.sent += batch;
      await line.answered(line.expected - window);
    }
    await line.answered(line.expected);
    await line.ends(random);
  } finally {
    line.socket.destroy();
  }
}

function payloadOf(requests, random) {
  return random.below(2) === 0 ? hostilePayload(requests, random.next) : fieldMutation(requests, random);
}
