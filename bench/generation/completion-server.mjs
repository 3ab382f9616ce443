// One llama-server for completions.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headers, startLlamaServer } from '../harness/llama-server.mjs';

export class CompletionServer {
  #url;
  #slots;
  pid;

  /** @param settings {threads, slots, context, batch, flash}: `context` in all, `flash` as -fa takes it */
  static async start(program, model, settings) {
    const server = new CompletionServer();
    // Slots can be erased only where they could be saved.
    const saved = mkdtempSync(join(tmpdir(), 'lorekeep-bench-slots-'));
    process.once('exit', () => rmSync(saved, { recursive: true, force: true }));
    const { url, pid } = await startLlamaServer(program, model, argumentsOf(saved, settings));
    server.#url = url;
    server.#slots = settings.slots;
    server.pid = pid;
    return server;
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

function argumentsOf(saved, { threads, slots, context, batch, flash }) {
  const flags = {
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
  return [...Object.entries(flags).flat(), '--kv-unified', '--no-warmup'];
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
