import type { Socket } from 'node:net';
import { isDefect, toServerError } from '../failure/failure.js';
import type { ClientMemory } from '../limits/client-memory.js';
import { ConnectionMemory, type RequestMemory } from '../limits/connection-memory.js';
import { withLogContext } from '../log/context.js';
import type { Log } from '../log/log.js';
import { FrameDecoder, frameKind, type WireFrame } from '../protocol/decoder.js';
import { encodeFrame } from '../protocol/encoder.js';
import { fail, type ServerError, serverError } from '../protocol/errors.js';
import { protocolVersion, type RequestId, type ServerFrame } from '../protocol/frames.js';
import { leadingId } from '../protocol/leading-id.js';
import { checkFieldNames, idOf, measurePayload, parseObject, parseRequest } from '../protocol/request.js';
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
  /** How long a connection without a session may be silent, in ms; 0: for ever. */
  idleMs: number;
  /** How long a client may take to close after its framing was lost. */
  farewellMs: number;
}

export const defaultLimits: ConnectionLimits = {
  unsentBytes: 1024 * 1024,
  requests: 64,
  producers: 16,
  frameMs: 30_000,
  stallMs: 60_000,
  idleMs: 0,
  farewellMs: 2_000,
};

/**
 * One client. Requests are taken from the stream one by one and only while the client keeps up, so that what it makes
 * the server hold is bounded (docs/protocol.md, "Limits"): `unsentBytes` of replies and what `producers` searches and turns
 * make beside; `requests` requests; and, with unfinished turns and received bytes, what its memory budget lets pass.
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
  readonly #memory: ConnectionMemory;
  /** A frame for which there was no memory yet. */
  #waiting: WireFrame | undefined;
  #requests = 0;
  #ended = false;
  readonly #gate: OutputGate;
  #stall: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;
  #unfinishedFrame: NodeJS.Timeout | undefined;
  /** Resolves when the socket is closed and all sessions have given back what they held. */
  readonly closed: Promise<void>;

  constructor(socket: Socket, services: Services, limits: ConnectionLimits, memory: ClientMemory) {
    this.#socket = socket;
    this.#services = services;
    this.#limits = limits;
    this.#client = `${socket.remoteAddress}:${socket.remotePort}`;
    this.#log = services.log.child({ client: this.#client });
    this.#maxFrameBytes = services.config.max_frame_mb * 1024 * 1024;
    this.#decoder = new FrameDecoder(this.#maxFrameBytes);
    this.#memory = new ConnectionMemory(memory, () => this.#pump());
    this.#sessions = new SessionTable(services, memory);
    this.#gate = new OutputGate(limits.producers, () => this.#clientLags());
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#ended = true;
        clearTimeout(this.#stall);
        clearTimeout(this.#idle);
        clearTimeout(this.#unfinishedFrame);
        this.#waiting = undefined;
        this.#decoder.clear();
        this.#memory.close();
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
      this.#idle?.refresh();
      this.#decoder.push(chunk);
      this.#pump();
    });
    socket.on('drain', () => {
      clearTimeout(this.#stall);
      this.#stall = undefined;
      this.#memory.unsent(socket.writableLength);
      this.#gate.admit();
      this.#pump();
    });
    this.#log.debug('connected');
    this.#watchIdleness();
    const { version } = this.#services;
    this.#send({ type: 'Hello', protocol: protocolVersion, server: 'lorekeep', version });
  }

  /** Takes requests while the client keeps up; otherwise leaves the rest in the decoder and in the network. */
  #pump(): void {
    try {
      while (!this.#ended && this.#mayTake() && this.#takeNext());
      const refusal = this.#memory.refusal(this.#decoder.announcedBytes);
      if (refusal !== undefined) throw refusal;
    } catch (error) {
      this.#loseFraming(toServerError(error));
      return;
    }
    if (this.#ended) return;
    this.#countReceived();
    const reading = this.#mayTake() && this.#waiting === undefined && this.#memory.mayRead();
    if (reading) this.#socket.resume();
    else this.#socket.pause();
    this.#watchFrame(reading);
  }

  /** Serves the next frame, once there is memory for it. False when there is none to serve now. */
  #takeNext(): boolean {
    this.#waiting ??= this.#decoder.next();
    const frame = this.#waiting;
    if (frame === undefined) return false;
    this.#forgetFrameTimer();
    this.#countReceived();
    const { length } = frame.payload;
    const refusal = this.#memory.refusal(length);
    const memory = refusal === undefined ? this.#memory.take(length) : undefined;
    if (refusal === undefined && memory === undefined) return false;
    this.#waiting = undefined;
    if (memory === undefined) this.#refuse(refusal, leadingId(frame.payload));
    else this.#take(frame, memory);
    return true;
  }

  #countReceived(): void {
    this.#memory.received(this.#decoder.heldBytes + (this.#waiting?.payload.length ?? 0));
  }

  #mayTake(): boolean {
    return this.#requests < this.#limits.requests && !this.#clientLags();
  }

  #clientLags(): boolean {
    return this.#socket.writableLength > this.#limits.unsentBytes;
  }

  /** Serves a request; what it brought counts until it is answered and until nothing holds it any more. */
  #take(frame: WireFrame, memory: RequestMemory): void {
    const held: Promise<void>[] = [];
    this.#requests++;
    const serving = withLogContext({ client: this.#client }, () => this.#serve(frame, memory, held));
    const served = serving.then(() => {
      this.#requests--;
      if (held.length > 0) this.#pump();
    });
    void served
      .then(() => Promise.allSettled(held))
      .then(() => {
        memory.release();
        this.#pump();
      });
  }

  /** Answers one request. Never rejects: a handler that throws ends its own request and nothing else. */
  async #serve({ kind, payload }: WireFrame, memory: RequestMemory, held: Promise<void>[]): Promise<void> {
    let replyTo: RequestId | null = null;
    let understood = false;
    try {
      if (kind !== frameKind.json)
        fail(1005, 'binary frames are not there yet', { feature: 'binary frames' });
      const bounds = measurePayload(payload);
      memory.parsed(bounds.values);
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
    const written = () => this.#memory.unsent(this.#socket.writableLength);
    this.#socket.write(encodeFrame(frame, this.#maxFrameBytes), written);
    written();
    if (this.#clientLags()) this.#watchStall();
  }

  /** Drops the client unless what waits for it is gone in time. Nothing is added meanwhile but replies under way. */
  #watchStall(): void {
    this.#stall ??= setTimeout(() => {
      this.#log.warn({ unsent: this.#socket.writableLength }, 'client dropped: it does not read');
      this.#socket.destroy();
    }, this.#limits.stallMs);
  }

  /** Closes a connection that has no session and sends nothing. */
  #watchIdleness(): void {
    const { idleMs } = this.#limits;
    if (idleMs === 0) return;
    this.#idle = setTimeout(() => {
      if (this.#sessions.size > 0 || this.#requests > 0) {
        this.#watchIdleness();
        return;
      }
      const message = `no session and no request for ${idleMs} ms; the connection is closed`;
      this.expel(serverError(6004, message, { limit_ms: idleMs }));
    }, idleMs);
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

  /** Ends the connection: says why, discards what was and will be received, and closes. */
  expel(error: ServerError): void {
    if (!this.#ended) this.#loseFraming(error);
  }

  /** Nothing after this can be read as frames: says why, discards the rest, and closes. */
  #loseFraming(error: ServerError): void {
    this.#ended = true;
    this.#waiting = undefined;
    this.#decoder.clear();
    this.#memory.received(0);
    this.#refuse(error, null);
    this.#log.debug({ code: error.code }, 'framing lost');
    this.#socket.end();
    this.#socket.resume();
    const late = setTimeout(() => this.#socket.destroy(), this.#limits.farewellMs);
    this.#socket.once('close', () => clearTimeout(late));
  }
}
