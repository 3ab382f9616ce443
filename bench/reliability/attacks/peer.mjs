// A hostile client: sends the given bytes as fast as the server accepts them, and reads replies or not. A connection that
// the server closes is not an error.
import { once } from 'node:events';
import { connect } from 'node:net';
import { framed } from '../../../test/helpers/hostile-frames.mjs';

export class Peer {
  closed = false;
  replies = 0;
  #waiting = new Map();
  /** By type of event. */
  #expected = new Map();
  #rest = [];
  #held = 0;
  #drained;

  static async open(port) {
    const socket = connect({ host: '127.0.0.1', port });
    const peer = new Peer(socket);
    await Promise.race([once(socket, 'connect'), peer.gone]);
    return peer;
  }

  constructor(socket) {
    this.socket = socket;
    this.gone = new Promise((resolve) => {
      socket.once('close', () => {
        this.closed = true;
        for (const answer of this.#waiting.values()) answer(undefined);
        resolve();
      });
    });
    socket.on('error', () => {});
    socket.on('data', (chunk) => this.#take(chunk));
  }

  /** Resolves when the bytes may be followed by others. */
  async bytes(bytes) {
    if (this.closed || this.socket.write(bytes)) return;
    // One listener for all requests in flight that wait.
    this.#drained ??= once(this.socket, 'drain')
      .catch(() => {})
      .finally(() => {
        this.#drained = undefined;
      });
    await Promise.race([this.#drained, this.gone]);
  }

  send(frame) {
    return this.bytes(framed(Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame))));
  }

  /** The reply; undefined when the connection ends first. `id`: of a frame that is given as JSON. */
  async request(frame, id = frame.id) {
    if (this.closed) return undefined;
    const reply = new Promise((answer) => this.#waiting.set(id, answer));
    await this.send(frame);
    return reply;
  }

  /** The next event of a type; undefined when the connection ends first. */
  next(type) {
    return Promise.race([new Promise((tell) => this.#expected.set(type, tell)), this.gone]);
  }

  async session() {
    return (await this.request({ type: 'CreateSessionRequest', id: 'session' }))?.session_id;
  }

  /** A session with a storage of a file, under the name `docs`. */
  async storage(config_path = 'kb.json') {
    const session_id = await this.session();
    await this.request({
      type: 'CreateEmbeddedStringStorageRequest',
      id: 'docs',
      session_id,
      name: 'docs',
      config_path,
    });
    return session_id;
  }

  close() {
    this.socket.destroy();
  }

  #take(chunk) {
    this.#rest.push(chunk);
    this.#held += chunk.length;
    for (;;) {
      if (this.#held < 5) return;
      if (this.#rest[0].length < 5) this.#join();
      const end = 5 + this.#rest[0].readUInt32BE(1);
      if (this.#held < end) return;
      if (this.#rest[0].length < end) this.#join();
      this.#reply(this.#rest[0].subarray(5, end));
      this.#rest[0] = this.#rest[0].subarray(end);
      this.#held -= end;
    }
  }

  #join() {
    this.#rest = [Buffer.concat(this.#rest)];
  }

  #reply(payload) {
    this.replies++;
    if (this.#waiting.size + this.#expected.size === 0) return;
    const { reply_to, ...reply } = JSON.parse(payload.toString());
    this.#waiting.get(reply_to)?.(reply);
    this.#waiting.delete(reply_to);
    this.#expected.get(reply.type)?.(reply);
    this.#expected.delete(reply.type);
  }
}
