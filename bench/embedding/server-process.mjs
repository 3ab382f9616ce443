// One llama-server for embeddings.
import { startLlamaServer } from '../harness/llama-server.mjs';

const contextPerSlot = 512;

export class ServerProcess {
  #url;
  pid;

  /** @param settings {pooling, threads, slots, batch}: batch is the most tokens computed at once */
  static async start(program, model, { pooling, threads, slots, batch }) {
    const server = new ServerProcess();
    const flags = {
      '--pooling': pooling,
      '-t': threads,
      '-tb': threads,
      '--parallel': slots,
      '-c': slots * contextPerSlot,
      '-b': batch,
      '-ub': batch,
    };
    const started = await startLlamaServer(program, model, ['--embedding', ...Object.entries(flags).flat()]);
    server.#url = started.url;
    server.pid = started.pid;
    return server;
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
