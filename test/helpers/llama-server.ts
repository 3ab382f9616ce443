/** llama-server, where it is built: the program that LLAMA_SERVER names, or the one of `npm run setup:llama-server` in bench. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');
const built = join(root, '.cache', 'bench', 'llama-server');

/** The program's path; undefined, with a printed reason, where there is none. */
export function findLlamaServer(): string | undefined {
  const { LLAMA_SERVER } = process.env;
  if (LLAMA_SERVER) return LLAMA_SERVER;
  const name = existsSync(built)
    ? readdirSync(built).find((one) => one.startsWith('llama-server-'))
    : undefined;
  if (name !== undefined) return join(built, name);
  console.log('left out: no llama-server; LLAMA_SERVER names it, and setup:llama-server in bench builds it');
  return undefined;
}

/** A llama-server that reranks with one model. */
export class RerankServer implements AsyncDisposable {
  private constructor(
    private readonly child: ChildProcess,
    private readonly url: string,
  ) {}

  static async start(program: string, model: string): Promise<RerankServer> {
    const port = await freePort();
    const place = ['--host', '127.0.0.1', '--port', String(port)];
    const size = ['-c', '512', '-b', '512', '-ub', '512', '--parallel', '1', '-t', '1'];
    const child = spawn(program, ['-m', model, '--reranking', ...place, ...size], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let log = '';
    child.stderr.on('data', (data) => {
      log += data;
    });
    const url = `http://127.0.0.1:${port}`;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${log.slice(-2000)}`);
      const health = await fetch(`${url}/health`).catch(() => undefined);
      if (health?.ok) return new RerankServer(child, url);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** The scores of the documents, best first. */
  async rank(query: string, documents: readonly string[]): Promise<{ index: number; score: number }[]> {
    const reply = await fetch(`${this.url}/rerank`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, documents }),
    });
    if (!reply.ok) throw new Error(`llama-server: ${await reply.text()}`);
    const { results } = (await reply.json()) as { results: { index: number; relevance_score: number }[] };
    return results.map(({ index, relevance_score }) => ({ index, score: relevance_score }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill();
    await ended;
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
