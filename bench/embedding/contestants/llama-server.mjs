// llama-server, asked over loopback: two requests of up to 32 texts at a time, one text for a query.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { ownProcessor, timeBulk, timeEach } from '../timing.mjs';

const { model, program, threads, pooling } = contestantOptions();
const [perRequest, requests] = [32, 2];
const ticksPerSecond = 100; // of /proc/PID/stat, on every Linux

const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
const flags = [
  '--embedding',
  '--pooling',
  pooling,
  '-c',
  '2048',
  '-b',
  '512',
  '-ub',
  '512',
  '--parallel',
  '4',
];
const server = spawn(
  program,
  ['-m', model, '--host', '127.0.0.1', '--port', port, '-t', threads, ...flags].map(String),
  {
    stdio: 'ignore',
  },
);
process.once('exit', () => server.kill());
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => process.exit());
for (;;) {
  const health = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
  if (health?.ok) break;
  if (server.exitCode !== null) throw new Error(`${program} ended with ${server.exitCode}`);
  await new Promise((resolve) => setTimeout(resolve, 100));
}

/** Seconds that the server and this process have used. */
function processor() {
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ');
  return ownProcessor() + (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

async function ask(input) {
  const reply = await fetch(`http://127.0.0.1:${port}/v1/embeddings`, {
    method: 'POST',
    body: JSON.stringify({ input }),
    headers: { 'content-type': 'application/json' },
  });
  if (!reply.ok) throw new Error(`llama-server: ${await reply.text()}`);
  return (await reply.json()).data.map(({ embedding }) => embedding);
}

serve({
  facts: () => ({ threads, perRequest, requests }),
  bulk: (texts) =>
    timeBulk(
      texts,
      async () => {
        const rows = [];
        let next = 0;
        const work = async () => {
          while (next < texts.length) {
            const begin = next;
            next += perRequest;
            const part = await ask(texts.slice(begin, next));
            for (const [i, row] of part.entries()) rows[begin + i] = row;
          }
        };
        await Promise.all(Array.from({ length: requests }, work));
        return (i) => rows[i];
      },
      processor,
    ),
  each: (texts) => timeEach(texts, (text) => ask([text])),
});
