// One llama-server for completions on a free port of loopback, which ends with this process.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../embedding/server-process.mjs';

const pollMs = 50;
/** A kept connection may be closed by the server in the moment in which it is used again. */
const headers = { connection: 'close' };

export class CompletionServer {
  #child;
  #url;
  #slots;

  /** @param settings {threads, slots, context, batch, flash}: `context` in all, `flash` as -fa takes it */
  static async start(program, model, settings) {
    const server = new CompletionServer();
    const port = await freePort();
    // Slots can be erased only where they could be saved.
    const saved = mkdtempSync(join(tmpdir(), 'lorekeep-bench-slots-'));
    server.#url = `http://127.0.0.1:${port}`;
    server.#slots = settings.slots;
    server.#child = spawn(program, argumentsOf(model, port, saved, settings), { stdio: 'ignore' });
    let failed;
    server.#child.once('error', (error) => {
      failed = error.message;
    });
    server.#child.once('exit', (code, signal) => {
      failed ??= `it ended with ${signal ?? code}`;
    });
    process.once('exit', () => {
      server.#child.kill();
      rmSync(saved, { recursive: true, force: true });
    });
    for (;;) {
      const health = await fetch(`${server.#url}/health`, { headers }).catch(() => undefined);
      if (health?.ok) return server;
      if (failed) throw new Error(`${program}: ${failed}`);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
  }

  get pid() {
    return this.#child.pid;
  }

  /** Empties the slots: old prompts in the cache would slow down later requests. */
  async erase() {
    for (let slot = 0; slot < this.#slots; slot++) {
      const reply = await fetch(`${this.#url}/slots/${slot}?action=erase`, { method: 'POST', headers });
      if (!reply.ok) throw new Error(`llama-server: ${await reply.text()}`);
    }
  }

  /** An async iterable of arrivals, 1 for each token, with cancel(). `onEnd` gets the server's own times. */
  complete({ prompt, maxTokens, end, reuse, slot, onEnd = () => {} }) {
    const stop = new AbortController();
    const body = JSON.stringify({
      prompt,
      n_predict: maxTokens,
      temperature: 0,
      stream: true,
      cache_prompt: reuse,
      id_slot: slot ?? -1,
      ignore_eos: true,
      logit_bias: end.map((token) => [token, false]),
    });
    const url = `${this.#url}/completion`;
    return {
      cancel: () => stop.abort(),
      async *[Symbol.asyncIterator]() {
        try {
          const reply = await fetch(url, { method: 'POST', headers, body, signal: stop.signal });
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

function argumentsOf(model, port, saved, { threads, slots, context, batch, flash }) {
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
    '-fa': flash,
    '--cache-ram': 0,
    '--slot-save-path': saved,
  };
  return [...Object.entries(flags).flat().map(String), '--kv-unified', '--no-warmup'];
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
