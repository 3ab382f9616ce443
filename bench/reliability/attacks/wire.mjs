// Connections of attackers to the HTTP doors, which take any bytes.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';

/** A raw connection to a door: sends any bytes and keeps the beginning of the answer. */
export class Wire {
  closed = false;
  answer = '';

  static async open(port) {
    const socket = connect({ host: '127.0.0.1', port });
    const wire = new Wire(socket);
    await Promise.race([once(socket, 'connect'), wire.gone]);
    return wire;
  }

  constructor(socket) {
    this.socket = socket;
    this.gone = new Promise((resolve) =>
      socket.once('close', () => {
        this.closed = true;
        resolve();
      }),
    );
    socket.on('error', () => {});
    socket.setEncoding('latin1').on('data', (text) => {
      if (this.answer.length < 65_536) this.answer += text;
    });
  }

  async send(bytes) {
    if (this.closed || this.socket.write(bytes)) return;
    await Promise.race([once(this.socket, 'drain').catch(() => {}), this.gone]);
  }

  /** Waits for the end of the first answer's headers. */
  async head({ alive, pause }) {
    while (alive() && !this.closed && !this.answer.includes('\r\n\r\n')) await pause(2);
    return Number(/^HTTP\/1\.1 (\d+)/.exec(this.answer)?.[1]);
  }

  /** Whether the answer, or as much of it as is kept, is here. */
  get isWhole() {
    const [head, length] = /content-length: (\d+)/i.exec(this.answer) ?? [];
    const body = this.answer.length - this.answer.indexOf('\r\n\r\n') - 4;
    return (
      this.answer.length >= 65_536 || (head ? body >= Number(length) : this.answer.endsWith('\r\n0\r\n\r\n'))
    );
  }

  end() {
    this.socket.destroy();
  }
}

export const host = 'host: 127.0.0.1\r\n';
export const json = 'content-type: application/json\r\n';
export const posted = (path, body, headers = '') =>
  `POST ${path} HTTP/1.1\r\n${host}${json}${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** A masked frame of a client. */
export function webSocketFrame(opcode, payload, final = true) {
  const { length } = payload;
  const mask = randomBytes(4);
  const size =
    length < 126 ? Buffer.from([0x80 | length]) : Buffer.from([0x80 | 126, length >> 8, length & 255]);
  const masked = Buffer.from(payload.map((byte, at) => byte ^ mask[at % 4]));
  return Buffer.concat([Buffer.from([(final ? 0x80 : 0) | opcode]), size, mask, masked]);
}

export async function webSocket(tools) {
  const wire = await Wire.open(tools.door);
  const key = randomBytes(16).toString('base64');
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n';
  await wire.send(`GET /v1/socket HTTP/1.1\r\n${host}${upgrade}sec-websocket-key: ${key}\r\n\r\n`);
  const status = await wire.head(tools);
  const accepted = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  if (status === 101 && !wire.answer.includes(accepted)) tools.found('a handshake has a wrong answer');
  return wire;
}

export const mcpHeaders = 'accept: application/json, text/event-stream\r\n';

const statuses = [200, 202, 400, 404, 408, 409, 413, 415, 429, 500, 503];

/** Sends one body after the other, each on a connection of its own, and reads the answers. */
export const bodies = (name, lanes, path, bodyOf, { headers = '', settings } = {}) => ({
  name,
  lanes,
  door: true,
  ...(settings && { settings }),
  async lane(tools) {
    for (let n = tools.lane; tools.alive(); n++) {
      const wire = await Wire.open(tools.door);
      const [to, body] = typeof path === 'string' ? [path, bodyOf(n, tools)] : [path(n), bodyOf(n, tools)];
      await wire.send(posted(to, JSON.stringify(body), headers));
      const status = await wire.head(tools);
      if (!Number.isNaN(status) && !statuses.includes(status))
        tools.found(`${to} was answered with ${status}`);
      while (tools.alive() && !wire.closed && !wire.isWhole) await tools.pause(2);
      wire.end();
    }
  },
});
