// One llama-server on a free port of loopback, which ends with this process.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

const pollMs = 50;
/** A kept connection may be closed by the server in the moment in which it is used again. */
export const headers = { connection: 'close' };

/** Starts the program and waits until it is ready. `flags` come on top of model and address. */
export async function startLlamaServer(program, model, flags) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(program, ['-m', model, '--host', '127.0.0.1', '--port', port, ...flags].map(String), {
    stdio: 'ignore',
  });
  let failed;
  child.once('error', (error) => {
    failed = error.message;
  });
  child.once('exit', (code, signal) => {
    failed ??= `it ended with ${signal ?? code}`;
  });
  process.once('exit', () => child.kill());
  for (;;) {
    const health = await fetch(`${url}/health`, { headers }).catch(() => undefined);
    if (health?.ok) return { url, pid: child.pid };
    if (failed) throw new Error(`${program}: ${failed}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}
