import { mkdirSync } from 'node:fs';
import { request } from 'node:http';
import { cached } from '../../harness/cache.mjs';
import { connect } from '../../lorekeep.mjs';
import { startServer } from '../server-process.mjs';

/** As in web/monitor/app.tsx. */
const refreshMs = 2000;

const graph = {
  nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'kb.json', mode: 'hybrid' } }],
};
/** A server with clients that are ready to load it. */
export class Contender {
  #server;
  #agents;
  #turns = 0;
  #elapsedMs = 0;
  #processorMs = 0;

  /** `name` is also that of its folder. */
  static async start(name, base, settings, clients) {
    const folder = cached('server', `monitor-${name}`);
    mkdirSync(folder, { recursive: true });
    const server = await startServer(folder, { storage_root: base, ...settings });
    const agents = await Promise.all(
      Array.from({ length: clients }, async () => {
        const session = await (await connect({ port: server.port })).createSession();
        return session.createAgent({ graph });
      }),
    );
    return new Contender(name, server, agents);
  }

  constructor(name, server, agents) {
    this.name = name;
    this.#server = server;
    this.#agents = agents;
  }

  /** Turns a second of all clients together. */
  get rate() {
    return (this.#turns * 1000) / this.#elapsedMs;
  }

  /** Processor time of the server per turn, in µs. */
  get processorUs() {
    return (this.#processorMs * 1000) / this.#turns;
  }

  /** Takes turns with all clients for some seconds. `counts`: for the rates above. */
  async load(seconds, ask, counts) {
    const begin = performance.now();
    const until = begin + seconds * 1000;
    const processor = this.#server.processorMs();
    let turns = 0;
    const loops = this.#agents.map(async (agent) => {
      while (performance.now() < until) {
        const { status } = await agent.turn(ask());
        if (status !== 'completed') throw new Error(`${this.name}: a turn ended as ${status}`);
        turns++;
      }
    });
    await Promise.all(loops);
    if (!counts) return;
    this.#turns += turns;
    this.#elapsedMs += performance.now() - begin;
    this.#processorMs += this.#server.processorMs() - processor;
  }

  /** Opens the monitor's event stream and asks for its state every two seconds, as its page does. */
  async watch() {
    const [, address] = /(http:\/\/[\d.]+:\d+\/)/.exec(this.#server.printed()) ?? [];
    if (address === undefined) throw new Error('the server did not say where its monitor is');
    const page = { bytes: 0, close: () => {} };
    const stream = await openStream(new URL('api/stream', address), (length) => {
      page.bytes += length;
    });
    const poll = setInterval(() => {
      fetch(new URL('api/state', address))
        .then((response) => response.arrayBuffer())
        .catch(() => {});
    }, refreshMs);
    page.close = () => {
      clearInterval(poll);
      stream.destroy();
    };
    return page;
  }

  async stop() {
    const code = await this.#server.stop();
    if (code !== 0) throw new Error(`${this.name}: the server ended with ${code}`);
  }
}

/** Resolves with the request once the stream is open; `onData` is called with the length of each chunk. */
function openStream(address, onData) {
  return new Promise((opened, failed) => {
    const stream = request(address, (response) => {
      if (response.statusCode !== 200) failed(new Error(`the monitor answers ${response.statusCode}`));
      response.on('data', ({ length }) => onData(length));
      response.on('error', () => {}); // it ends with destroy()
      opened(stream);
    });
    stream.on('error', failed);
    stream.end();
  });
}
