// A connection that counts replies, and nothing more of them.
import { once } from 'node:events';
import { framed } from '../../../test/helpers/hostile-frames.mjs';

/** Longest silence of a server that owes replies. */
const answerMs = 60_000;
/** Times between two looks at the clock count for at most this long: a process that did not run has not waited. */
const longestTickMs = 5000;
const internal = Buffer.from('"code":1009');
const replyTo = Buffer.from('"reply_to":');

export class Line {
  constructor(socket) {
    this.socket = socket;
    this.replies = 0;
    this.expected = 0;
    this.ended = false;
    this.rest = Buffer.alloc(0);
    this.frames = [];
    this.keeping = true;
    this.heard = 0;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      this.ended = true;
      this.#look();
    });
  }

  #look() {
    this.look?.();
  }

  #take(chunk) {
    this.heard = Date.now();
    let bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    while (bytes.length >= 5) {
      const end = 5 + bytes.readUInt32BE(1);
      if (bytes.length < end) break;
      const payload = bytes.subarray(5, end);
      if (payload.includes(replyTo)) this.replies++;
      if (payload.includes(internal))
        this.failure ??= `an internal error: ${payload.toString().slice(0, 300)}`;
      if (this.keeping) this.frames.push(JSON.parse(payload.toString()));
      bytes = bytes.subarray(end);
    }
    this.rest = bytes;
    this.#look();
  }

  /** Distinguishes a server that does not read from a server that does not answer. */
  get #state() {
    const { bytesRead, bytesWritten, writableLength } = this.socket;
    return `${this.replies} by now; ${bytesWritten} bytes written, ${writableLength} unsent, ${bytesRead} read`;
  }

  async #until(holds, what) {
    let silent = 0;
    let last = Date.now();
    let { heard } = this;
    for (;;) {
      if (this.failure) throw new Error(this.failure);
      if (holds()) return;
      if (this.ended) throw new Error(`closed by the server ${what}`);
      const now = Date.now();
      silent = this.heard === heard ? silent + Math.min(now - last, longestTickMs) : 0;
      last = now;
      heard = this.heard;
      if (silent > answerMs) throw new Error(`no answer in ${answerMs / 1000} s ${what}, ${this.#state}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 1000);
        this.look = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  async frame() {
    await this.#until(() => this.frames.length > 0, 'at the beginning');
    return this.frames.shift();
  }

  async ask(request) {
    this.socket.write(framed(Buffer.from(JSON.stringify(request))));
    const reply = await this.frame();
    if (reply.type === 'Error') throw new Error(`${request.type}: ${reply.message}`);
    if (request.type === 'CreateAgentRequest') {
      this.keeping = false;
      this.replies = 0;
    }
    return reply;
  }

  async write(bytes, random) {
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + 1 + random.below(40_000));
      if (!this.socket.write(bytes.subarray(at, end)))
        await Promise.race([once(this.socket, 'drain'), once(this.socket, 'close')]);
      at = end;
    }
  }

  answered(count) {
    return this.#until(() => this.replies >= count, `at reply ${this.replies} of ${this.expected}`);
  }

  /** After bytes that are no frame, or half of one, the server ends the connection. */
  async ends(random) {
    if (this.replies > this.expected) throw new Error(`${this.replies} replies to ${this.expected} frames`);
    // Kinds 1 and 2 are known.
    const ends = [
      Buffer.from([3 + random.below(253), 0, 0, 0, 1, 123]),
      Buffer.from([1, 255, 255, 255, random.below(256)]),
      Buffer.from([0, 0, 0, 0, 0]),
    ];
    if (random.below(4) === 0) {
      this.socket.write(Buffer.from([1, 0, 0, 1, 0, 123]));
      this.socket.resetAndDestroy();
      return;
    }
    this.socket.write(random.of(ends));
    await this.#until(() => this.ended, 'after bytes that are no frame').catch((error) => {
      if (!this.ended) throw error;
    });
  }
}
