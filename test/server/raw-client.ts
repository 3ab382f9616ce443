import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FrameDecoder } from '../../src/protocol/decoder.js';
import { encodeFrame } from '../../src/protocol/encoder.js';
import { type ServerFrame, serverSchemas } from '../../src/protocol/frames.js';

const frameLimit = 256 * 1024 * 1024;

const strictSchemas = Object.fromEntries(
  Object.entries(serverSchemas).map(([type, schema]) => [type, schema.strict()]),
);

/** Sends frames or plain bytes and keeps what comes back. Every frame received must be right by its schema. */
export class RawClient {
  readonly socket: Socket;
  readonly received: ServerFrame[] = [];
  readonly closed: Promise<unknown>;
  readonly #decoder = new FrameDecoder(frameLimit);
  #looking: (() => void)[] = [];
  #ended = false;

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
        const value = JSON.parse(frame.payload.toString()) as ServerFrame;
        // Replies to debug commands are not part of the protocol.
        const isDebug = (value.type as string) === 'DebugCommandResponse';
        this.received.push(isDebug ? value : (strictSchemas[value.type]?.parse(value) as ServerFrame));
      }
      this.#look();
    });
  }

  static async connect(port: number): Promise<RawClient> {
    const socket = connect({ host: '127.0.0.1', port });
    const client = new RawClient(socket);
    await once(socket, 'connect');
    return client;
  }

  send(...frames: object[]): void {
    this.socket.write(Buffer.concat(frames.map((frame) => encodeFrame(frame, frameLimit))));
  }

  bytes(bytes: Buffer): void {
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
