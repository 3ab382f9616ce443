import type { Socket } from 'node:net';
import { errorFields, isDefect, toServerError } from '../failure/failure.js';
import { withLoopTurns } from '../lifecycle/loop-turn.js';
import type { ClientMemory } from '../limits/client-memory.js';
import { ConnectionMemory, type RequestMemory } from '../limits/connection-memory.js';
import type { Log } from '../log/log.js';
import { FrameDecoder, frameKind, type WireFrame } from '../protocol/decoder.js';
import { fail, type ServerError, serverError } from '../protocol/errors.js';
import { protocolVersion, type RequestId, type ServerFrame } from '../protocol/frames.js';
import type { JsonParser } from '../protocol/json-parser.js';
import { leadingId } from '../protocol/leading-id.js';
import { idOf, objectOf, parseRequest, payloadParser } from '../protocol/request.js';
import { dispatch } from './dispatch.js';
import type { HandlerContext } from './handlers.js';
import type { LoopShare } from './loop-scheduler.js';
import { Outbox } from './outbox.js';
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

/** Requests that are begun before what they cause is looked at. */
const requestsPerSlice = 16;

/** Bytes that are taken from the network before their frames' time has come. */
const mostAhead = 256 * 1024;

/** A frame that is being parsed. */
interface Parsing {
  frame: WireFrame;
  parser: JsonParser;
  memory: RequestMemory;
}

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
  readonly #outbox: Outbox;
  readonly #afterWriting: (() => void)[] = [];
  /** When this client's frames are parsed and served, and its long replies written. */
  readonly #share: LoopShare;
  #parsing: Parsing | undefined;
  #requests = 0;
  #ended = false;
  /** Whether the connection is to end when the outbox is empty. */
  #farewell = false;
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
    this.#memory = new ConnectionMemory(memory, () => this.#share.request());
    this.#sessions = new SessionTable(services, memory, socket.remoteAddress ?? '');
    this.#share = services.loop.join({
      serve: (isDue) => this.#work(isDue),
      settle: () => this.#flush(),
    });
    this.#outbox = new Outbox(socket, this.#maxFrameBytes, {
      requestTime: () => this.#share.request(),
      written: () => this.#countUnsent(),
    });
    this.#gate = new OutputGate(limits.producers, () => this.#clientLags());
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#ended = true;
        this.#share.leave();
        this.#outbox.clear();
        this.#callAfterWriting();
        clearTimeout(this.#stall);
        clearTimeout(this.#idle);
        clearTimeout(this.#unfinishedFrame);
        this.#forgetReceived();
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
    this.#outbox.encode(() => false);
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
      if (this.#decoder.waitingBytes > mostAhead) socket.pause();
      this.#share.request();
    });
    socket.on('drain', () => {
      clearTimeout(this.#stall);
      this.#stall = undefined;
      this.#memory.unsent(socket.writableLength);
      this.#gate.admit();
      this.#share.request();
    });
    this.#log.debug('connected');
    this.#watchIdleness();
    const { version } = this.#services;
    this.#send({ type: 'Hello', protocol: protocolVersion, server: 'lorekeep', version });
  }

  /** A slice of this client's work: long replies first, then requests, while the client keeps up. */
  #work(isDue: () => boolean): boolean {
    this.#socket.cork();
    if (this.#outbox.encode(isDue)) return true;
    if (this.#farewell) this.#endSocket();
    this.#gate.admit();
    for (let taken = 0; taken < requestsPerSlice; taken++) {
      if (!this.#takeRequest(isDue)) {
        this.#adjustReading();
        return false;
      }
      if (isDue()) return true;
    }
    return true;
  }

  /** Sends the replies of a slice together. They may have been all that this client was waiting for. */
  #flush(): void {
    const lagged = this.#clientLags();
    this.#socket.uncork();
    if (lagged && !this.#clientLags()) this.#share.request();
  }

  /** Goes on with the frame that is being parsed, or begins the next once there is memory for it. False when there is nothing to do for now. */
  #takeRequest(isDue: () => boolean): boolean {
    if (this.#parsing !== undefined) {
      this.#parse(this.#parsing, isDue);
      return true;
    }
    if (this.#ended || !this.#mayTake()) return false;
    this.#waiting ??= this.#nextFrame();
    const frame = this.#waiting;
    if (frame === undefined) return false;
    this.#forgetFrameTimer();
    this.#countReceived();
    const { length } = frame.payload;
    const refusal = this.#memory.refusal(length);
    if (refusal !== undefined) {
      this.#waiting = undefined;
      this.#refuse(refusal, leadingId(frame.payload));
      return true;
    }
    const memory = this.#memory.take(length);
    if (memory === undefined) return false;
    this.#waiting = undefined;
    this.#requests++;
    this.#parsing = { frame, memory, parser: payloadParser(frame.payload) };
    this.#parse(this.#parsing, isDue);
    return true;
  }

  /** The next frame that is whole. One that can never be taken ends the connection before it is. */
  #nextFrame(): WireFrame | undefined {
    try {
      const frame = this.#decoder.next();
      const refusal = this.#memory.refusal(this.#decoder.announcedBytes);
      if (refusal !== undefined) throw refusal;
      return frame;
    } catch (error) {
      this.#loseFraming(toServerError(error));
      return undefined;
    }
  }

  /** Reads from the network while the client keeps up; otherwise what it sends stays there. */
  #adjustReading(): void {
    if (this.#ended) return;
    this.#countReceived();
    const reading = this.#mayTake() && this.#waiting === undefined && this.#memory.mayRead();
    if (reading) this.#socket.resume();
    else this.#socket.pause();
    this.#watchFrame(reading);
  }

  #countReceived(): void {
    this.#memory.received(this.#decoder.heldBytes + (this.#waiting?.payload.length ?? 0));
  }

  #mayTake(): boolean {
    return this.#requests < this.#limits.requests && !this.#clientLags();
  }

  #clientLags(): boolean {
    return this.#outbox.busy || this.#isUnread();
  }

  #isUnread(): boolean {
    return this.#socket.writableLength > this.#limits.unsentBytes;
  }

  #parse(parsing: Parsing, isDue: () => boolean): void {
    const { frame, parser, memory } = parsing;
    let failure: unknown;
    try {
      if (frame.kind !== frameKind.json)
        fail(1005, 'binary frames are not there yet', { feature: 'binary frames' });
      const ended = parser.parse(isDue);
      memory.parsed(parser.values);
      if (!ended) return;
    } catch (error) {
      failure = error;
    }
    this.#parsing = undefined;
    if (this.#ended) memory.release();
    else this.#begin(parsing, failure);
  }

  /** Serves a request; what it brought counts until it is answered and until nothing holds it any more. */
  #begin({ frame: { payload }, parser, memory }: Parsing, failure: unknown): void {
    const held: Promise<void>[] = [];
    const served = this.#serve(payload, parser, failure, held).then(() => {
      this.#requests--;
      if (held.length > 0) this.#share.request();
    });
    void served
      .then(() => Promise.allSettled(held))
      .then(() => {
        memory.release();
        this.#share.request();
      });
  }

  /** Answers one request. Never rejects: a handler that throws ends its own request and nothing else. */
  async #serve(payload: Buffer, parser: JsonParser, failure: unknown, held: Promise<void>[]): Promise<void> {
    let replyTo: RequestId | null = null;
    try {
      if (failure !== undefined) throw failure;
      const object = objectOf(parser);
      replyTo = idOf(object);
      const request = parseRequest(object);
      const answer = await withLoopTurns(this.#share, () => dispatch(this.#context(held), request));
      if (answer !== undefined) this.#send({ ...answer, reply_to: replyTo } as ServerFrame);
    } catch (thrown) {
      const error = toServerError(thrown);
      if (isDefect(error)) this.#log.error({ err: thrown }, 'request failed');
      else this.#log.debug({ code: error.code }, 'request refused');
      this.#refuse(error, replyTo ?? leadingId(payload));
    }
  }

  #context(held: Promise<void>[]): HandlerContext {
    return {
      client: this.#client,
      services: this.#services,
      sessions: this.#sessions,
      memory: this.#memory.ledger,
      send: (frame) => this.#send(frame),
      waitForOutput: (signal) => this.#gate.enter(signal),
      reserve: async (bytes, signal) => {
        const giveBack = await this.#memory.reserve(bytes, signal);
        return () => this.#whenWritten(giveBack);
      },
      holdRequest: (until) => held.push(until),
    };
  }

  #refuse(error: ServerError, replyTo: RequestId | null): void {
    this.#send({ type: 'Error', reply_to: replyTo, ...errorFields(error) });
  }

  #send(frame: ServerFrame): void {
    if (!this.#socket.writable) return;
    this.#outbox.send(frame);
  }

  /** Calls back when no long reply waits to be written: until then its results are held. */
  #whenWritten(callback: () => void): void {
    this.#afterWriting.push(callback);
    this.#callAfterWriting();
  }

  #callAfterWriting(): void {
    if (!this.#outbox.busy) for (const callback of this.#afterWriting.splice(0)) callback();
  }

  #countUnsent(): void {
    this.#callAfterWriting();
    this.#memory.unsent(this.#socket.writableLength);
    this.#watchStall();
  }

  /** Drops the client unless what waits for it is gone in time. Nothing is added meanwhile but replies under way. */
  #watchStall(): void {
    if (!this.#isUnread()) return;
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
        if (this.#decoder.waitingBytes > 0) {
          this.#forgetFrameTimer();
          this.#share.request();
          return;
        }
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

  /** Drops what was received and is not being served. */
  #forgetReceived(): void {
    this.#parsing?.memory.release();
    this.#parsing = undefined;
    this.#waiting = undefined;
    this.#decoder.clear();
    this.#memory.received(0);
  }

  /** Ends the connection: says why, discards what was and will be received, and closes. */
  expel(error: ServerError): void {
    if (!this.#ended) this.#loseFraming(error);
  }

  /** Nothing after this can be read as frames: says why, discards the rest, and closes. */
  #loseFraming(error: ServerError): void {
    this.#ended = true;
    this.#forgetReceived();
    this.#refuse(error, null);
    this.#log.debug({ code: error.code }, 'framing lost');
    this.#farewell = true;
    if (!this.#outbox.busy) this.#endSocket();
    this.#socket.resume();
    const late = setTimeout(() => this.#socket.destroy(), this.#limits.farewellMs);
    this.#socket.once('close', () => clearTimeout(late));
  }

  /** Ends the connection after what was written. */
  #endSocket(): void {
    this.#farewell = false;
    this.#socket.end();
  }
}
