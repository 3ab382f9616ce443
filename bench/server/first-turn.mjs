// How soon a server answers: from `lorekeep serve` in a process of its own to the first reply of an agent with a Retrieve node
// over a storage of strings, with the model in the package. Stated by the clock and by the server's processor time, which
// is what a quiet machine with enough cores would come to.
//
//   node bench/server/first-turn.mjs [--rounds 5] [--mode hybrid]
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connect } from '../../dist/src/client/index.js';
import { commandLine } from '../harness/command-line.mjs';

const { values: options } = commandLine({
  options: { rounds: { type: 'string', default: '5' }, mode: { type: 'string', default: 'hybrid' } },
});
const program = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const strings = [
  'Honey bees dance to tell the hive where flowers are.',
  'Glaciers grind valleys into the shape of a U.',
  'A sourdough starter is flour and water that wild yeast has moved into.',
];
const ticksPerSecond = 100;

/** Seconds of processor time of a running process, its threads included (Linux). */
function processorTime(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  } catch {
    return Number.NaN;
  }
}

async function firstTurn() {
  const started = performance.now();
  const server = spawn(process.execPath, [program, 'serve', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await portOf(server.stdout);
  const listening = performance.now() - started;
  const client = await connect({ port });
  const session = await client.createSession();
  await session.createEmbeddedStringStorage({ name: 'facts', strings, embeddingModel: 'lorekeep-mini' });
  const params = { embedded_string_storage: 'facts', mode: options.mode };
  const agent = await session.createAgent({ graph: { nodes: [{ id: 'find', type: 'retrieve', params }] } });
  await agent.turn('where do bees find flowers?');
  const answered = performance.now() - started;
  const processor = processorTime(server.pid);
  await client.close();
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  return { listening, answered, processor };
}

async function portOf(stdout) {
  for await (const line of createInterface({ input: stdout })) {
    const port = /"port":(\d+)/.exec(line)?.[1];
    if (port !== undefined) {
      stdout.resume();
      return Number(port);
    }
  }
  throw new Error('the server ended before it listened');
}

for (let round = 0; round < Number(options.rounds); round++) {
  const { listening, answered, processor } = await firstTurn();
  console.log(
    `listening after ${listening.toFixed(0)} ms, first turn answered after ${answered.toFixed(0)} ms, ` +
      `${processor.toFixed(2)} s of processor time`,
  );
}
