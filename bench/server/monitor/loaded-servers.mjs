import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '../../lorekeep.mjs';

/** As in web/monitor/app.tsx. */
const refreshMs = 2000;
/** A monitor sends turns at most this long after they have ended. */
const sendMs = 120;

const graph = {
  nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'kb.json', mode: 'hybrid' } }],
};

/** Servers in one process of their own, with clients that are ready to load them. */
export class LoadedServers {
  #process;
  #agents = new Map();
  #pages = new Map();
  #watched = false;

  /** @param configs by name */
  static async start(configs, clients) {
    const program = fileURLToPath(new URL('servers.mjs', import.meta.url));
    const child = fork(program, [JSON.stringify(configs)], { execArgv: ['--expose-gc'] });
    const servers = new LoadedServers(child);
    for (const [name, { port, monitor }] of Object.entries(await servers.#reply())) {
      const agents = Array.from({ length: clients }, async () => {
        const session = await (await connect({ port })).createSession();
        return session.createAgent({ graph });
      });
      servers.#agents.set(name, await Promise.all(agents));
      servers.#pages.set(name, { address: `http://127.0.0.1:${monitor}/api/`, bytes: 0, watchedMs: 0 });
    }
    return servers;
  }

  constructor(child) {
    this.#process = child;
  }

  /** Opens the event stream of a monitor. */
  async watch(name) {
    const page = this.#pages.get(name);
    const stream = request(`${page.address}stream`).end();
    const [response] = await once(stream, 'response');
    if (response.statusCode !== 200) throw new Error(`the monitor answers ${response.statusCode}`);
    page.open = true;
    this.#watched = true;
    response.on('data', ({ length }) => {
      page.bytes += length;
    });
    response.on('error', () => {}); // the process of the servers ends
  }

  /**
   * Asks a server the questions, each client its share of them one after another. Gives the turns, the time, and the processor time
   * of the servers, until pages have been sent the turns if there are any.
   */
  async load(name, questions) {
    const before = await this.#used();
    const begin = performance.now();
    const agents = this.#agents.get(name);
    await Promise.all(
      agents.map(async (agent, client) => {
        for (let at = client; at < questions.length; at += agents.length) {
          const { status } = await agent.turn(questions[at]);
          if (status !== 'completed') throw new Error(`${name}: a turn ended as ${status}`);
        }
      }),
    );
    const ms = performance.now() - begin;
    // The turns of a page are sent in the time of any server that is loaded meanwhile.
    if (this.#watched) await Promise.all([delay(sendMs), this.#refresh(this.#pages.get(name), ms)]);
    const { processorUs, loopUs } = await this.#used();
    return {
      turns: questions.length,
      ms,
      processorUs: processorUs - before.processorUs,
      loopUs: loopUs - before.loopUs,
    };
  }

  bytes(name) {
    return this.#pages.get(name).bytes;
  }

  stop() {
    this.#process.disconnect();
  }

  /** A page asks for the state again after each two seconds that it has watched. */
  async #refresh(page, ms) {
    if (page.open !== true) return;
    page.watchedMs += ms;
    if (page.watchedMs < refreshMs) return;
    page.watchedMs -= refreshMs;
    page.bytes += (await (await fetch(`${page.address}state`)).arrayBuffer()).byteLength;
  }

  /** Processor time of the servers so far, and of their event loop. */
  async #used() {
    this.#process.send('processor time');
    return this.#reply();
  }

  async #reply() {
    const ended = new AbortController();
    const end = once(this.#process, 'exit', { signal: ended.signal }).then(([code]) => {
      throw new Error(`the process of the servers ended with ${code}`);
    });
    try {
      const [message] = await Promise.race([once(this.#process, 'message', { signal: ended.signal }), end]);
      return message;
    } finally {
      end.catch(() => {});
      ended.abort();
    }
  }
}
