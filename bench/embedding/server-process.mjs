// One llama-server on a free port of loopback, which ends with this process.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

const contextPerSlot = 512;
const pollMs = 50;

export class ServerProcess {
  #child;
  #url;

  /** @param settings {pooling, threads, slots, batch}: batch is the most tokens computed at once */
  static async start(program, model, settings) {
    const server = new ServerProcess();
    const port = await freePort();
    server.#url = `http://127.0.0.1:${port}`;
    server.#child = spawn(program, argumentsOf(model, port, settings), { stdio: 'ignore' });
    let failed;
    server.#child.once('error', (error) => {
      failed = error.message;
    });
    server.#child.once('exit', (code, signal) => {
      failed ??= `it ended with ${signal ?? code}`;
    });
    process.once('exit', () => server.#child.kill());
    for (;;) {
      const health = await fetch(`${server.#url}/health`).catch(() => undefined);
      if (health?.ok) return server;
      if (failed) throw new Error(`${program}: ${failed}`);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  get pid() {
    return this.#child.pid;
  }

  /** @returns an array of numbers for each text */
  async embed(texts) {
    const reply = await fetch(`${this.#url}/v1/embeddings`, {
      method: 'POST',
      body: JSON.stringify({ input: texts }),
      headers: { 'content-type': 'application/json' },
    });
    if (!reply.ok) throw new Error(`llama-server: ${await reply.text()}`);
    return (await reply.json()).data.map(({ embedding }) => embedding);
  }
}

const argumentsOf = (model, port, { pooling, threads, slots, batch }) =>
  [
    ...['-m', model, '--host', '127.0.0.1', '--port', port, '--embedding', '--pooling', pooling],
    ...[
      '-t',
      threads,
      '-tb',
      threads,
      '--parallel',
      slots,
      '-c',
      slots * contextPerSlot,
      '-b',
      batch,
      '-ub',
      batch,
    ],
  ].map(String);

export function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
