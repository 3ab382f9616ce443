import type { Socket } from 'node:net';
import { isDefect, toServerError } from '../failure/failure.js';
import type { Log } from '../log/log.js';
import { FrameDecoder, frameKind, type WireFrame } from '../protocol/decoder.js';
import { encodeFrame } from '../protocol/encoder.js';
import { fail, type ServerError, serverError } from '../protocol/errors.js';
import { protocolVersion, type RequestId, type ServerFrame } from '../protocol/frames.js';
import { idOf, parseObject, parseRequest } from '../protocol/request.js';
import { type HandlerContext, handlers } from './handlers.js';
import type { Services } from './services.js';
import { SessionTable } from './session-table.js';

/** How much one client may make the server hold, and for how long it may keep it waiting. */
export interface ConnectionLimits {
  /** Replies that the client has not read; above it, no further request is taken. */
  unsentBytes: number;
  /** Requests being served at once. */
  requests: number;
  /** How long a client may take to read what is above `unsentBytes`, all of it, before it is dropped. */
  stallMs: number;
  /** How long a client may take to close after its framing was lost. */
  farewellMs: number;
}

export const defaultLimits: ConnectionLimits = {
  unsentBytes: 1024 * 1024,
  requests: 64,
  stallMs: 60_000,
  farewellMs: 2_000,
};

/**
 * One client. Requests are taken from the stream one by one and only while the client keeps up, so that what it makes
 * the server hold is bounded: `unsentBytes` of replies, `requests` requests of at most twice the frame limit together,
 * and what those answer.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #services: Services;
  readonly #limits: ConnectionLimits;
  readonly #log: Log;
  readonly #decoder: FrameDecoder;
  readonly #sessions: SessionTable;
  readonly #context: HandlerContext;
  readonly #maxFrameBytes: number;
  #requests = 0;
  #requestBytes = 0;
  #ended = false;
  #stall: NodeJS.Timeout | undefined;
  /** Resolves when the socket is closed and all sessions have given back what they held. */
  readonly closed: Promise<void>;

  constructor(socket: Socket, services: Services, limits: ConnectionLimits) {
    this.#socket = socket;
    this.#services = services;
    this.#limits = limits;
    this.#log = services.log.child({ client: `${socket.remoteAddress}:${socket.remotePort}` });
    this.#maxFrameBytes = services.config.max_frame_mb * 1024 * 1024;
    this.#decoder = new FrameDecoder(this.#maxFrameBytes);
    this.#sessions = new SessionTable(services);
    this.#context = { services, sessions: this.#sessions, send: (frame) => this.#send(frame) };
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#ended = true;
        clearTimeout(this.#stall);
        this.#log.debug('disconnected');
        resolve(this.#endSessions(serverError(2002, 'the connection was closed')));
      });
    });
    this.#listen();
  }

  /** Ends every session for `reason`, tells the client what can still be told and closes the socket. */
  async close(reason: ServerError): Promise<void> {
    this.#ended = true;
    await this.#endSessions(reason);
    this.#socket.destroySoon();
    const late = setTimeout(() => this.#socket.destroy(), this.#limits.farewellMs);
    await this.closed;
    clearTimeout(late);
  }

  async #endSessions(reason: ServerError): Promise<void> {
    try {
      await this.#sessions.closeAll(reason);
    } catch (error) {
      this.#log.error({ err: error }, 'a session did not close cleanly');
    }
  }

  #listen(): void {
    const socket = this.#socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
    socket.on('error', (error) => this.#log.debug({ err: error }, 'socket error'));
    socket.on('data', (chunk: Buffer) => {
      if (this.#ended) return;
      this.#decoder.push(chunk);
      this.#pump();
    });
    socket.on('drain', () => {
      clearTimeout(this.#stall);
      this.#stall = undefined;
      this.#pump();
    });
    this.#log.debug('connected');
    const { version } = this.#services;
    this.#send({ type: 'Hello', protocol: protocolVersion, server: 'lorekeep', version });
  }

  /** Takes requests while the client keeps up; otherwise leaves the rest in the decoder and in the network. */
  #pump(): void {
    try {
      while (!this.#ended && this.#mayTake()) {
        const frame = this.#decoder.next();
        if (frame === undefined) break;
        this.#requests++;
        this.#requestBytes += frame.payload.length;
        void this.#serve(frame).then(() => {
          this.#requests--;
          this.#requestBytes -= frame.payload.length;
          this.#pump();
        });
      }
    } catch (error) {
      this.#loseFraming(toServerError(error));
      return;
    }
    if (this.#ended) return;
    if (this.#mayTake()) {
      this.#socket.resume();
      return;
    }
    this.#socket.pause();
    this.#watchStall();
  }

  #mayTake(): boolean {
    return (
      this.#requests < this.#limits.requests &&
      this.#requestBytes <= this.#maxFrameBytes &&
      this.#socket.writableLength <= this.#limits.unsentBytes
    );
  }

  /** Answers one request. Never rejects: a handler that throws ends its own request and nothing else. */
  async #serve({ kind, payload }: WireFrame): Promise<void> {
    let replyTo: RequestId | null = null;
    try {
      if (kind !== frameKind.json)
        fail(1005, 'binary frames are not there yet', { feature: 'binary frames' });
      const object = parseObject(payload);
      replyTo = idOf(object);
      const request = parseRequest(object);
      const handler = handlers[request.type] as (context: HandlerContext, request: object) => unknown;
      const reply = (await handler(this.#context, request)) as ServerFrame | undefined;
      if (reply !== undefined) this.#send({ ...reply, reply_to: replyTo } as ServerFrame);
    } catch (thrown) {
      this.#refuse(toServerError(thrown), replyTo);
    }
  }

  #refuse(error: ServerError, replyTo: RequestId | null): void {
    if (isDefect(error)) this.#log.error({ err: error.cause }, 'request failed');
    const { code, name, message, details } = error;
    this.#send({ type: 'Error', reply_to: replyTo, code, name, message, details });
  }

  /** @throws FrameTooLarge */
  #send(frame: ServerFrame): void {
    if (this.#socket.writable) this.#socket.write(encodeFrame(frame, this.#maxFrameBytes));
  }

  /** Drops the client unless what waits for it is gone in time. Nothing is added meanwhile but replies under way. */
  #watchStall(): void {
    if (this.#stall !== undefined || this.#socket.writableLength <= this.#limits.unsentBytes) return;
    this.#stall = setTimeout(() => {
      this.#log.warn({ unsent: this.#socket.writableLength }, 'client dropped: it does not read');
      this.#socket.destroy();
    }, this.#limits.stallMs);
  }

  /** Nothing after this can be read as frames: says why, discards the rest, and closes. */
  #loseFraming(error: ServerError): void {
    this.#ended = true;
    this.#refuse(error, null);
    this.#log.debug({ code: error.code }, 'framing lost');
    this.#socket.end();
    this.#socket.resume();
    const late = setTimeout(() => this.#socket.destroy(), this.#limits.farewellMs);
    this.#socket.once('close', () => clearTimeout(late));
  }
}
