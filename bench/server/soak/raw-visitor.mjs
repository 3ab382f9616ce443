// A client without the library: it can stop reading, and vanish.
import { once } from 'node:events';
import { connect } from 'node:net';
import { wait } from '../server-process.mjs';

/** Time for which a visitor reads nothing. */
const stallMs = 500;

export class RawVisitor {
  #socket;
  #received = Buffer.alloc(0);
  #waiting = [];
  #id = 0;

  static async connect(port) {
    const socket = connect({ host: '127.0.0.1', port });
    await once(socket, 'connect');
    return new RawVisitor(socket);
  }

  constructor(socket) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('close', () => {
      for (const { failed } of this.#waiting.splice(0)) failed(new Error('the server closed the connection'));
    });
  }

  /** Begins a turn of a new agent; resolves when the server has started it. */
  async takeTurn(graph, text) {
    const { session_id } = await this.#request({ type: 'CreateSessionRequest' });
    const { agent_id } = await this.#request({ type: 'CreateAgentRequest', session_id, graph });
    await this.#request({ type: 'TurnRequest', session_id, agent_id, text });
  }

  async askWithoutReading(count, question) {
    const { session_id } = await this.#request({ type: 'CreateSessionRequest' });
    this.#socket.pause();
    for (let i = 0; i < count; i++)
      this.#send({
        ...{ type: 'SearchEmbeddedStringStorageRequest', session_id, name: 'kb.json' },
        ...{ text: question(), top_k: 50 },
      });
    await wait(stallMs);
  }

  destroy() {
    this.#waiting.length = 0;
    this.#socket.destroy();
  }

  #request(frame) {
    const id = this.#send(frame);
    return new Promise((done, failed) => this.#waiting.push({ id, done, failed }));
  }

  #send(frame) {
    const id = ++this.#id;
    const payload = Buffer.from(JSON.stringify({ id, ...frame }));
    const head = Buffer.alloc(5);
    head[0] = 1;
    head.writeUInt32BE(payload.length, 1);
    this.#socket.write(Buffer.concat([head, payload]));
    return id;
  }

  #take(chunk) {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= 5) {
      const end = 5 + this.#received.readUInt32BE(1);
      if (this.#received.length < end) return;
      const frame = JSON.parse(this.#received.subarray(5, end).toString());
      this.#received = this.#received.subarray(end);
      const at = this.#waiting.findIndex(({ id }) => id === frame.reply_to);
      if (at < 0) continue;
      const [{ done, failed }] = this.#waiting.splice(at, 1);
      if (frame.type === 'Error') failed(new Error(`${frame.code}: ${frame.message}`));
      else done(frame);
    }
  }
}
