// Frames of a server: the exchanges of docs/reference/protocol.md and docs/reference/agents.md, an error, and the line of --parent-pid.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Exchange, transcript } from './exchange.mjs';

const inline = {
  type: 'CreateEmbeddedStringStorageRequest',
  id: 2,
  session_id: 's1',
  name: 'docs',
  strings: ['Bees dance to tell where flowers bloom.', 'Glaciers grind valleys.'],
  embedding_model: 'lorekeep-mini',
};

/** The exchange of docs/reference/protocol.md, which is shown whole. */
export function protocolSample(folder, block) {
  return conversation(folder, (exchange) => transcript(exchange, block));
}

/** Two turns of the agent of docs/reference/agents.md: `graph` is the graph that the page shows above them. */
export function agentSample(folder, graph, block) {
  folder.write('replies/found.txt', 'That is what I know.\n');
  return conversation(folder, async (exchange) => {
    await exchange.receive(1);
    await exchange.send({ type: 'CreateSessionRequest', id: 1 });
    await exchange.send(inline);
    await exchange.send({ type: 'CreateAgentRequest', id: 3, session_id: 's1', graph: JSON.parse(graph) });
    return transcript(exchange, block);
  });
}

/** A text that is too long, in docs/reference/errors.md. */
export function errorSample(folder) {
  return conversation(folder, async (exchange) => {
    await exchange.receive(1);
    await exchange.send({ type: 'CreateSessionRequest', id: 1 });
    const strings = ['Bees dance.', 'Honey keeps.', 'Wax burns.', 'bees '.repeat(739)];
    const [error] = await exchange.send({ ...inline, id: 7, strings, embedding_model: 'all-MiniLM-L6-v2' });
    return JSON.stringify(error).replace(',"message"', ',\n "message"');
  });
}

/** The first line of `lorekeep serve --parent-pid`; port, token and pid are the page's. */
export async function readySample(folder, block) {
  const config = folder.write('ready.json', { logs_dir: '' });
  const args = ['serve', '--port', '0', '--parent-pid', String(process.pid), '--config', config];
  const child = spawn(process.execPath, [folder.program, ...args], {
    env: { ...process.env, ...folder.env },
  });
  const ended = once(child, 'close');
  child.stderr.resume();
  let text = '';
  for await (const chunk of child.stdout) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  child.kill('SIGTERM');
  await ended;
  const { port, token, pid } = JSON.parse(block);
  return JSON.stringify({ ...JSON.parse(text), port, token, pid });
}

function conversation(folder, use) {
  return folder.withServer({}, async (port) => {
    const exchange = await Exchange.open(port);
    try {
      return await use(exchange);
    } finally {
      exchange.close();
    }
  });
}
