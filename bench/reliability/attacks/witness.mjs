// argv: port of the server, port of the echo server, the questions as JSON. A well-behaved client in a process of its
// own. At each message it stops measuring, sends its results and starts again; 'end' ends it.
import { once } from 'node:events';
import { connect } from 'node:net';
import { percentile } from '../../server/server-process.mjs';
import { Victim } from '../victim.mjs';

const [port, echoPort, questions] = process.argv.slice(2);
const sample = { questions: JSON.parse(questions) };
const echo = connect({ host: '127.0.0.1', port: Number(echoPort) });
await once(echo, 'connect');
let times = [];
let echoing = true;
const echoes = echoLoop();
let victim = await begin();
process.send('ready');

process.on('disconnect', () => process.exit());
process.on('message', async (message) => {
  const { problems, ...seen } = await victim.stop();
  const echoP99 = times.length > 0 ? percentile(times, 0.99) : undefined;
  times = [];
  process.send({ ...seen, problems: problems.slice(0, 3), echoP99 });
  if (message === 'end') {
    echoing = false;
    await echoes;
    process.exit();
  }
  victim = await begin().catch((error) => process.send({ failed: error.message }));
});

async function begin() {
  const one = await Victim.connect(Number(port), sample);
  one.start();
  return one;
}

async function echoLoop() {
  const bytes = Buffer.alloc(24, 1);
  while (echoing) {
    const from = performance.now();
    echo.write(bytes);
    await once(echo, 'data');
    times.push(performance.now() - from);
    await new Promise((done) => setTimeout(done, 1));
  }
}
