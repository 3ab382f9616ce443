// The peers in Python: a process that answers one call at a time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cached } from '../harness/cache.mjs';

/** Python with the peers' packages: `npm run setup:speech` makes it. */
export const peersPython = () =>
  process.env.LOREKEEP_BENCH_PYTHON ?? cached('speech-peers', 'venv', 'bin', 'python');

export class PythonPeer {
  #child;
  #lines;

  /** Undefined where no Python is set up. */
  static start() {
    const python = peersPython();
    return existsSync(python) ? new PythonPeer(python) : undefined;
  }

  constructor(python) {
    const program = join(import.meta.dirname, 'peers.py');
    this.#child = spawn(python, [program], { stdio: ['pipe', 'pipe', 'ignore'] });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** @throws what the peer throws */
  async call(name, request = {}) {
    this.#child.stdin.write(`${JSON.stringify({ call: name, ...request })}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`${name}: the process of the peers has ended`);
    const { error, ...reply } = JSON.parse(value);
    if (error !== undefined) throw new Error(`${name}: ${error}`);
    return reply;
  }

  async end() {
    this.#child.stdin.end();
    if (this.#child.exitCode === null) await once(this.#child, 'close');
  }
}
