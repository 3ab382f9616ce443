import type { Socket } from 'node:net';
import { isDefect, toServerError } from '../failure/failure.js';
import { withLogContext } from '../log/context.js';
import type { Log } from '../log/log.js';
import { FrameDecoder, frameKind, type WireFrame } from '../protocol/decoder.js';
import { encodeFrame } from '../protocol/encoder.js';
import { fail, type ServerError, serverError } from '../protocol/errors.js';
import { protocolVersion, type RequestId, type ServerFrame } from '../protocol/frames.js';
import type { JsonBounds } from '../protocol/json-bounds.js';
import { leadingId } from '../protocol/leading-id.js';
import {
  checkFieldNames,
  idOf,
  measurePayload,
  parsedBytes,
  parseObject,
  parseRequest,
} from '../protocol/request.js';
import { dispatch } from './dispatch.js';
import type { HandlerContext } from './handlers.js';
import { OutputGate } from './output-gate.js';
import type { Services } from './services.js';
import { SessionTable } from './session-table.js';

/** How much one client may make the server hold, and for how long it may keep it waiting. */
export interface ConnectionLimits {
  /** Replies that the client has not read; above it, no further request is taken. */
  unsentBytes: number;
  /** Requests being served at once. */
  requests: number;
  /** Searches and turns that make their results at once: what they make is not held back when the client stops reading. */
  producers: number;
  /** How long a client may take from the first byte of a frame to the last, in ms. */
  frameMs: number;
  /** How long a client may take to read what is above `unsentBytes`, all of it, before it is dropped. */
  stallMs: number;
  /** How long a client may take to close after its framing was lost. */
  farewellMs: number;
}

export const defaultLimits: ConnectionLimits = {
  unsentBytes: 1024 * 1024,
  requests: 64,
  producers: 16,
  frameMs: 30_000,
  stallMs: 60_000,
  farewellMs: 2_000,
};

/**
 * One client. Requests are taken from the stream one by one and only while the client keeps up, so that what it makes
 * the server hold is bounded (docs/protocol.md, "Limits"): `unsentBytes` of replies and what `producers` searches and turns
 * make beside; `requests` requests and unfinished turns that take at most twice the frame limit together.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #services: Services;
  readonly #limits: ConnectionLimits;
  readonly #log: Log;
  readonly #client: string;
  readonly #decoder: FrameDecoder;
  readonly #sessions: SessionTable;
  readonly #maxFrameBytes: number;
  #requests = 0;
  #requestBytes = 0;
  #ended = false;
  readonly #gate: OutputGate;
  #stall: NodeJS.Timeout | undefined;
  #unfinishedFrame: NodeJS.Timeout | undefined;
  /** Resolves when the socket is closed and all sessions have given back what they held. */
  readonly closed: Promise<void>;

  constructor(socket: Socket, services: Services, limits: ConnectionLimits) {
    this.#socket = socket;
    this.#services = services;
    this.#limits = limits;
    this.#client = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#log = services.log.child({ client: this.#client });
    this.#maxFrameBytes = services.config.max_frame_mb * 1024 * 1024;
    this.#decoder = new FrameDecoder(this.#maxFrameBytes);
    this.#sessions = new SessionTable(services);
    this.#gate = new OutputGate(limits.producers, () => this.#clientLags());
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#ended = true;
        clearTimeout(this.#stall);
        clearTimeout(this.#unfinishedFrame);
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
      this.#gate.admit();
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
        this.#take(frame);
      }
    } catch (error) {
      this.#loseFraming(toServerError(error));
      return;
    }
    if (this.#ended) return;
    const reading = this.#mayTake();
    if (reading) this.#socket.resume();
    else this.#socket.pause();
    this.#watchFrame(reading);
  }

  #mayTake(): boolean {
    return (
      this.#requests < this.#limits.requests &&
      this.#requestBytes <= this.#maxFrameBytes &&
      !this.#clientLags()
    );
  }

  #clientLags(): boolean {
    return this.#socket.writableLength > this.#limits.unsentBytes;
  }

  /** Serves a request; what it brought counts until it is answered and until nothing holds it any more. */
  #take(frame: WireFrame): void {
    this.#forgetFrameTimer();
    const bounds = measurePayload(frame.payload);
    const bytes = parsedBytes(frame.payload, bounds);
    const held: Promise<void>[] = [];
    this.#requests++;
    this.#requestBytes += bytes;
    const serving = withLogContext({ client: this.#client }, () => this.#serve(frame, bounds, held));
    const served = serving.then(() => {
      this.#requests--;
      if (held.length > 0) this.#pump();
    });
    void served
      .then(() => Promise.allSettled(held))
      .then(() => {
        this.#requestBytes -= bytes;
        this.#pump();
      });
  }

  /** Answers one request. Never rejects: a handler that throws ends its own request and nothing else. */
  async #serve({ kind, payload }: WireFrame, bounds: JsonBounds, held: Promise<void>[]): Promise<void> {
    let replyTo: RequestId | null = null;
    let understood = false;
    try {
      if (kind !== frameKind.json)
        fail(1005, 'binary frames are not there yet', { feature: 'binary frames' });
      const object = parseObject(payload, bounds);
      replyTo = idOf(object);
      checkFieldNames(payload, object);
      const request = parseRequest(object);
      understood = true;
      const reply = await dispatch(this.#context(held), request);
      if (reply !== undefined) this.#send({ ...reply, reply_to: replyTo } as ServerFrame);
    } catch (thrown) {
      if (!understood) this.#log.debug({ code: toServerError(thrown).code }, 'request refused');
      this.#refuse(thrown, replyTo ?? leadingId(payload));
    }
  }

  #context(held: Promise<void>[]): HandlerContext {
    return {
      services: this.#services,
      sessions: this.#sessions,
      send: (frame) => this.#send(frame),
      room: (signal) => this.#gate.enter(signal),
      hold: (until) => held.push(until),
    };
  }

  #refuse(thrown: unknown, replyTo: RequestId | null): void {
    const error = toServerError(thrown);
    // Who threw a ServerError has logged what is behind it.
    if (isDefect(error) && error !== thrown) this.#log.error({ err: error.cause }, 'request failed');
    const { code, name, message, details } = error;
    this.#send({ type: 'Error', reply_to: replyTo, code, name, message, details });
  }

  /** @throws FrameTooLarge */
  #send(frame: ServerFrame): void {
    if (!this.#socket.writable) return;
    this.#socket.write(encodeFrame(frame, this.#maxFrameBytes));
    if (this.#clientLags()) this.#watchStall();
  }

  /** Drops the client unless what waits for it is gone in time. Nothing is added meanwhile but replies under way. */
  #watchStall(): void {
    this.#stall ??= setTimeout(() => {
      this.#log.warn({ unsent: this.#socket.writableLength }, 'client dropped: it does not read');
      this.#socket.destroy();
    }, this.#limits.stallMs);
  }

  /**
   * Drops a client that has begun a frame and does not finish it. The time counts only while the server reads; between frames
   * there is no limit.
   */
  #watchFrame(reading: boolean): void {
    if (!reading || !this.#decoder.midFrame) {
      this.#forgetFrameTimer();
      return;
    }
    const { frameMs } = this.#limits;
    this.#unfinishedFrame ??= setTimeout(() => {
      // What came in while the event loop was busy is read first.
      setImmediate(() => {
        if (this.#unfinishedFrame === undefined || this.#ended) return;
        this.#log.warn({ frameMs }, 'client dropped: it does not finish a frame');
        const message = `a frame was begun and not finished within ${frameMs} ms; the connection is closed`;
        this.#loseFraming(serverError(1006, message, { limit_ms: frameMs }));
      });
    }, frameMs);
  }

  #forgetFrameTimer(): void {
    clearTimeout(this.#unfinishedFrame);
    this.#unfinishedFrame = undefined;
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
