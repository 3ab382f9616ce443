import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FrameDecoder } from '../../src/protocol/decoder.js';
import { encodeFrame } from '../../src/protocol/encoder.js';
import { type ServerFrame, serverSchemas } from '../../src/protocol/frames.js';

const frameLimit = 256 * 1024 * 1024;

/** Parts of the paths of every folder that tests make, and of the names of open files. */
const secrets = ['lorekeep-test-', 'lorekeep-server-', '/proc/self', process.cwd()];

const strictSchemas = Object.fromEntries(
  Object.entries(serverSchemas).map(([type, schema]) => [type, schema.strict()]),
);

/**
 * Sends frames or plain bytes and keeps what comes back. Every frame received must be right by its schema, and without a path of the
 * server that this client did not send.
 */
export class RawClient {
  readonly socket: Socket;
  readonly received: ServerFrame[] = [];
  readonly closed: Promise<unknown>;
  readonly #decoder = new FrameDecoder(frameLimit);
  #looking: (() => void)[] = [];
  #ended = false;
  #secrets = secrets;
  #leak: Error | undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = once(socket, 'close');
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#ended = true;
      this.#look();
    });
    socket.on('data', (chunk: Buffer) => {
      this.#decoder.push(chunk);
      for (let frame = this.#decoder.next(); frame !== undefined; frame = this.#decoder.next()) {
        const text = frame.payload.toString();
        if (this.#secrets.some((secret) => text.includes(secret))) {
          this.#leak = new Error(`a frame with a path of the server: ${text}`);
          this.#look();
          throw this.#leak;
        }
        const value = JSON.parse(text) as ServerFrame;
        // Replies to debug commands are not part of the protocol.
        const isDebug = (value.type as string) === 'DebugCommandResponse';
        this.received.push(isDebug ? value : (strictSchemas[value.type]?.parse(value) as ServerFrame));
      }
      this.#look();
    });
  }

  /** Speaks over a connection, open or yet to be. */
  static over(socket: Socket): RawClient {
    return new RawClient(socket);
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect({ host: '127.0.0.1', port });
    const client = new RawClient(socket);
    await once(socket, 'connect');
    return client;
  }

  send(...frames: object[]): void {
    this.bytes(Buffer.concat(frames.map((frame) => encodeFrame(frame, frameLimit))));
  }

  bytes(bytes: Buffer): void {
    this.#secrets = this.#secrets.filter((secret) => !bytes.includes(secret));
    this.socket.write(bytes);
  }

  /** The first frame received, or yet to come, that fits. Rejects when the connection closes without one. */
  async next<Frame extends ServerFrame>(fits: (frame: ServerFrame) => boolean): Promise<Frame> {
    let looked = 0;
    for (;;) {
      while (looked < this.received.length) {
        const frame = this.received[looked++] as ServerFrame;
        if (fits(frame)) return frame as Frame;
      }
      if (this.#leak !== undefined) throw this.#leak;
      if (this.#ended) throw new Error(`closed; received ${JSON.stringify(this.received).slice(0, 500)}`);
      await new Promise<void>((resolve) => this.#looking.push(resolve));
    }
  }

  /** Sends a request and waits for what answers it. */
  async request<Frame extends ServerFrame>(
    frame: { id: number | string } & Record<string, unknown>,
  ): Promise<Frame> {
    this.send(frame);
    return this.next((reply) => 'reply_to' in reply && reply.reply_to === frame.id);
  }

  destroy(): void {
    this.socket.destroy();
  }

  #look(): void {
    const looking = this.#looking;
    this.#looking = [];
    for (const resolve of looking) resolve();
  }
}
