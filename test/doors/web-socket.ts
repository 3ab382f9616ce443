import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { type Door, door, type Json } from './door-setting.js';

/** A frame of the server. */
interface Frame {
  readonly type: string;
  readonly reply_to?: unknown;
}

/** Frames over a WebSocket. */
export class SocketClient {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  readonly #waiting = new Set<() => void>();
  /** The status of the end. */
  readonly closed: Promise<number>;
  session: string | undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()));
      for (const look of this.#waiting) look();
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) =>
      socket.once('close', (code) => {
        resolve(code);
        for (const look of this.#waiting) look();
      }),
    );
  }

  static async open(
    port: number,
    path = '/v1/socket',
    headers: Record<string, string> = {},
  ): Promise<SocketClient> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    onTestFinished(() => socket.terminate());
    const client = new SocketClient(socket);
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    return client;
  }

  /** The first frame for which `matches`, now or later; undefined if the socket closes before. */
  next(matches: (frame: Frame) => boolean): Promise<Json> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.frames.find(matches);
        if (found === undefined && this.socket.readyState !== WebSocket.CLOSED) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  request(frame: { id: number; [field: string]: unknown }): Promise<Json> {
    this.socket.send(JSON.stringify(frame));
    return this.next(({ reply_to }) => reply_to === frame.id);
  }

  /** Creates a session with id 1. */
  async begin(secret?: string, fields: object = {}): Promise<Json> {
    const reply: { session_id: string } = await this.request({
      type: 'CreateSessionRequest',
      id: 1,
      ...(secret && { access_token: secret }),
      ...fields,
    });
    this.session = reply.session_id;
    return reply;
  }
}

export const secret = (name: string): string => `key-of-${name}-0123456789`;

/** Writes a keys file with one key per entry, and returns its path. */
export function keysFile(keys: Record<string, readonly string[]>): string {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'keys.json');
  const entries = Object.entries(keys).map(([name, rights]) => ({ name, key: secret(name), rights }));
  writeFileSync(path, JSON.stringify({ keys: entries }), { mode: 0o600 });
  return path;
}

/** A server with the key `one` of these rights, and a socket with a session of that key. */
export async function keyedSocket(rights: readonly string[]): Promise<SocketClient & { door: Door }> {
  const opened = await door({ keys_file: keysFile({ one: rights }) });
  const socket = await SocketClient.open(opened.port);
  await socket.begin(secret('one'));
  return Object.assign(socket, { door: opened });
}
