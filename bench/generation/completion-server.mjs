// One llama-server for completions on a free port of loopback, which ends with this process.
import { spawn } from 'node:child_process';
import { freePort } from '../embedding/server-process.mjs';

const pollMs = 50;

export class CompletionServer {
  #child;
  #url;

  static async start(program, model, { threads, slots, context, batch }) {
    const server = new CompletionServer();
    const port = await freePort();
    server.#url = `http://127.0.0.1:${port}`;
    const flags = {
      '-m': model,
      '--host': '127.0.0.1',
      '--port': port,
      '-t': threads,
      '-tb': threads,
      '-np': slots,
      '-c': context,
      '-b': batch,
      '-ub': Math.min(batch, 512),
      '--cache-ram': 0,
    };
    server.#child = spawn(
      program,
      [...Object.entries(flags).flat().map(String), '--kv-unified', '--no-warmup'],
      {
        stdio: 'ignore',
      },
    );
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

  /** An async iterable of arrivals, 1 for each token, with cancel(). `onEnd` gets the server's own times. */
  complete({ prompt, maxTokens, end, reuse, onEnd = () => {} }) {
    const stop = new AbortController();
    const body = JSON.stringify({
      prompt,
      n_predict: maxTokens,
      temperature: 0,
      stream: true,
      cache_prompt: reuse,
      ignore_eos: true,
      logit_bias: end.map((token) => [token, false]),
    });
    const url = `${this.#url}/completion`;
    return {
      cancel: () => stop.abort(),
      async *[Symbol.asyncIterator]() {
        try {
          const reply = await fetch(url, { method: 'POST', body, signal: stop.signal });
          if (!reply.ok) throw new Error(`llama-server: ${await reply.text()}`);
          for await (const event of events(reply.body)) {
            if (event.stop) onEnd(event.timings);
            else yield 1;
          }
        } catch (error) {
          if (!stop.signal.aborted) throw error;
        }
      },
    };
  }
}

/** The JSON objects of a stream of server-sent events. */
async function* events(body) {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    const lines = text.split('\n');
    text = lines.pop();
    for (const line of lines) if (line.startsWith('data: {')) yield JSON.parse(line.slice(6));
  }
}
