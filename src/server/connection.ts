import type { Socket } from 'node:net';
import { withSlices } from '../base/waiting/next-slice.js';
import type { ClientMemory } from '../fairness/client-memory.js';
import { ConnectionMemory, type RequestMemory } from '../fairness/connection-memory.js';
import type { LoopShare } from '../fairness/loop-scheduler.js';
import { OutputGate } from '../fairness/output-gate.js';
import type { Log } from '../log/log.js';
import type { SessionState } from '../operations/monitor/state.js';
import { FrameDecoder, frameKind, type WireFrame } from '../protocol/decoder.js';
import { fail, type ServerError, serverError } from '../protocol/errors.js';
import { type BudgetStatus, protocolVersion, type RequestId, type ServerFrame } from '../protocol/frames.js';
import type { JsonParser } from '../protocol/json-parser.js';
import { leadingId } from '../protocol/leading-id.js';
import { idOf, objectOf, parseRequest, payloadParser } from '../protocol/request.js';
import { errorFields, isDefect, toServerError } from '../storages/failure.js';
import { type ConnectionLimits, pace } from './connection-limits.js';
import { Deadlines } from './deadlines.js';
import { dispatch } from './dispatch.js';
import type { HandlerContext } from './handlers.js';
import { Outbox } from './outbox.js';
import type { Services } from './services.js';
import { SessionTable } from './session-table.js';
import type { ThrottleReports } from './throttle.js';
import type { VideoMemoryWish } from './video-memory.js';

/** Time that the event loop takes to receive and copy a byte, its share of garbage collection included: about a millisecond for 1 MiB. */
const readMsPerByte = 1e-6;

/** About the length of a request. */
const bytesPerRequest = 256;

const nothing = Buffer.alloc(0);

/** A frame that is being parsed. */
interface Parsing {
  frame: WireFrame;
  parser: JsonParser;
  memory: RequestMemory;
}

/**
 * One client. Requests are accepted one by one and only while the client keeps up, so that its memory is bounded
 * (docs/reference/protocol.md, "Limits"): `unsentBytes` of replies plus the results of `producers` searches and turns, `requests`
 * requests, and its memory budget for received bytes and unfinished turns.
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
  /** A frame that waits for memory. */
  #waiting: WireFrame | undefined;
  readonly #outbox: Outbox;
  readonly #afterWriting: (() => void)[] = [];
  /** Time slices for parsing and serving this client's frames and for writing long replies. */
  readonly #share: LoopShare;
  /** Time slices for taking short frames and for answering pings: these do not wait for the client's other work. */
  readonly #shortShare: LoopShare;
  #takesShort = false;
  /** Requests of short frames that wait for their turn to begin. No long frame is taken before them: requests begin in order. */
  #beginning = 0;
  /** Whether the socket is read. */
  #reading = true;
  #parsing: Parsing | undefined;
  #requests = 0;
  #ended = false;
  /** Whether the connection ends once the outbox is empty. */
  #farewell = false;
  readonly #gate: OutputGate;
  #countsLater = false;
  readonly #throttle: ThrottleReports;
  readonly #videoMemory: VideoMemoryWish;
  readonly #deadlines: Deadlines;
  readonly #context: Omit<HandlerContext, 'holdRequest'>;
  /** Resolves when the socket is closed and all sessions have released their resources. */
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
    this.#shortShare = services.loop.join({
      serve: () => this.#takeShortFrames(),
      settle: () => this.#flush(),
    });
    this.#outbox = new Outbox(socket, this.#maxFrameBytes, {
      requestTime: () => this.#share.request(),
      written: () => this.#countUnsent(),
    });
    this.#throttle = services.throttle.join();
    this.#videoMemory = services.videoMemory.join();
    this.#gate = new OutputGate(limits.producers, () => this.#clientLags());
    this.#deadlines = new Deadlines(limits, {
      stalled: () => this.#dropUnread(),
      unfinished: () => this.#dropUnfinished(),
      silent: () => this.#dropSilent(),
    });
    this.#context = this.#handlerContext();
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#ended = true;
        this.#throttle.end();
        this.#videoMemory.end();
        this.#outbox.clear();
        this.#callAfterWriting();
        this.#deadlines.end();
        this.#forgetReceived();
        this.#memory.close();
        this.#log.debug('disconnected');
        const ended = this.#endSessions(serverError(2002, 'the connection was closed'));
        resolve(ended.finally(() => this.#leaveLoop()));
      });
    });
    this.#listen();
  }

  get address(): string {
    return this.#client;
  }

  /** Memory that is held for it. */
  get budget(): BudgetStatus {
    return this.#memory.ledger.status;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** The first `most` of its sessions. */
  sessionStates(most: number): SessionState[] {
    return this.#sessions.states(most);
  }

  /** Ends every session for `reason`, sends the remaining frames and closes the socket. */
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
      await withSlices(this.#share, () => this.#sessions.closeAll(reason));
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
      this.#deadlines.heard();
      this.#throttle.heard();
      this.#decoder.push(chunk);
      this.#share.charge(chunk.length * readMsPerByte);
      if (this.#decoder.waitingBytes >= pace.maxAhead) this.#read(false);
      const holdsShort = this.#holdsShortFrame;
      if (holdsShort) this.#shortShare.request();
      if (!holdsShort || chunk.length > pace.pingBytes) this.#share.request();
    });
    socket.on('drain', () => {
      this.#deadlines.read();
      this.#memory.unsent(socket.writableLength);
      this.#gate.admit();
      this.#share.request();
    });
    this.#log.debug('connected');
    const { version } = this.#services;
    this.#send({ type: 'Hello', protocol: protocolVersion, server: 'lorekeep', version });
  }

  /** A slice of this client's work: long replies first, then requests, while the client keeps up. Returns as LoopWork.serve(). */
  #work(isDue: () => boolean): number {
    this.#socket.cork();
    if (this.#outbox.encode(isDue)) return Number.POSITIVE_INFINITY;
    if (this.#farewell) this.#endSocket();
    this.#gate.admit();
    let more = this.#beginning === 0;
    for (let taken = 0; more && taken < pace.requests && !(taken > 0 && isDue()); taken++)
      more = this.#takeRequest(isDue);
    const waiting = more || this.#beginning > 0 ? this.#waitingRequests : 0;
    if (waiting === 0) this.#adjustReading();
    return waiting;
  }

  get #holdsShortFrame(): boolean {
    return this.#parsing === undefined && this.#waiting === undefined && this.#decoder.holdsShortFrame;
  }

  /** A slice of short frames: pings are answered, other requests begin in slices of their own. Returns as LoopWork.serve(). */
  #takeShortFrames(): number {
    this.#socket.cork();
    this.#takesShort = true;
    let taken = 0;
    while (taken < pace.shortFrames && this.#holdsShortFrame && this.#takeRequest(() => false)) taken++;
    this.#takesShort = false;
    if (taken === pace.shortFrames && this.#holdsShortFrame) return this.#waitingRequests;
    if (this.#decoder.waitingBytes > 0) this.#share.request();
    else this.#adjustReading();
    return 0;
  }

  /** Returns an estimate from the bytes read. A frame that needs more than a slice counts as infinitely many. */
  get #waitingRequests(): number {
    if (this.#parsing !== undefined || this.#decoder.joining) return Number.POSITIVE_INFINITY;
    return Math.ceil(this.#decoder.waitingBytes / bytesPerRequest);
  }

  /** Sends the replies of a slice together. */
  #flush(): void {
    const lagged = this.#clientLags();
    this.#socket.uncork();
    this.#countSent();
    if (lagged && !this.#clientLags()) this.#share.request();
  }

  /** Counts unread bytes, and again once they are sent, because the socket reports only the end of a long queue. */
  #countSent(): void {
    const { writableLength, writable } = this.#socket;
    this.#memory.unsent(writableLength);
    if (writableLength === 0 || !writable || this.#countsLater) return;
    this.#countsLater = true;
    this.#socket.write(nothing, () => {
      this.#countsLater = false;
      if (!this.#ended) this.#memory.unsent(this.#socket.writableLength);
    });
  }

  /** Continues parsing a frame, or starts the next one, if there is memory for it. Returns false if there is nothing to do. */
  #takeRequest(isDue: () => boolean): boolean {
    if (this.#parsing !== undefined) {
      if (!this.#memory.mayGrow()) return false;
      this.#parse(this.#parsing, isDue);
      return true;
    }
    if (this.#ended || !this.#mayTake()) return false;
    this.#waiting ??= this.#nextFrame(isDue);
    const frame = this.#waiting;
    if (frame === undefined) return this.#decoder.joining;
    this.#deadlines.frameEnded();
    this.#countReceived();
    const { length } = frame;
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

  /** Returns the next complete frame. One that can never be accepted is not kept: only its beginning is returned. */
  #nextFrame(isDue: () => boolean): WireFrame | undefined {
    try {
      const frame = this.#decoder.next(isDue);
      if (frame !== undefined || this.#memory.refusal(this.#decoder.announcedBytes) === undefined)
        return frame;
      this.#decoder.skip();
      return this.#decoder.next(isDue);
    } catch (error) {
      this.#loseFraming(toServerError(error));
      return undefined;
    }
  }

  /** Reads from the network while the client keeps up; otherwise TCP holds the data back. */
  #adjustReading(): void {
    if (this.#ended) return;
    this.#countReceived();
    const reading = this.#mayTake() && this.#waiting === undefined && this.#memory.mayRead();
    this.#read(reading);
    if (reading && this.#decoder.midFrame) this.#deadlines.frameBegun();
    else this.#deadlines.frameEnded();
  }

  #read(reading: boolean): void {
    if (reading === this.#reading) return;
    this.#reading = reading;
    if (reading) this.#socket.resume();
    else this.#socket.pause();
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
        fail(1005, 'binary frames are not supported yet', { feature: 'binary frames' });
      const ended = parser.parse(isDue);
      memory.parsed(parser);
      if (!ended) return;
    } catch (error) {
      failure = error;
    }
    this.#parsing = undefined;
    this.#memory.grown();
    if (this.#ended) memory.release();
    else void this.#serve(parsing, failure);
  }

  /**
   * Answers one request. Its memory counts until then and until nothing refers to it. Never rejects: a handler that throws ends
   * only its own request.
   */
  async #serve({ frame: { payload }, parser, memory }: Parsing, failure: unknown): Promise<void> {
    const held: Promise<void>[] = [];
    let object: Record<string, unknown> | undefined;
    try {
      if (failure !== undefined) throw failure;
      object = objectOf(parser);
      if (!this.#takesShort || object.type === 'Ping' || (await this.#begin())) {
        const answer = await this.#answer(object, held);
        if (answer !== undefined) this.#send(answer as ServerFrame);
      }
    } catch (thrown) {
      this.#failed(thrown, (object && idOf(object)) ?? leadingId(payload));
    }
    this.#requests--;
    if (held.length > 0) {
      this.#share.request();
      await Promise.allSettled(held);
    }
    memory.release();
    if (!this.#reading || this.#decoder.waitingBytes > 0) this.#share.request();
  }

  /** Waits for a slice in which the request of a short frame begins. Returns false if the connection has ended. */
  async #begin(): Promise<boolean> {
    this.#beginning++;
    await this.#share.nextSlice();
    this.#beginning--;
    return !this.#ended;
  }

  async #answer(object: Record<string, unknown>, held: Promise<void>[]): Promise<object | undefined> {
    const { debug } = this.#services;
    if (debug !== undefined && object.type === debug.type) {
      const answer = await debug.serve(object, (session) => void this.#sessions.get(session));
      return { ...answer, reply_to: idOf(object) };
    }
    const request = parseRequest(object);
    const context = { ...this.#context, holdRequest: (until: Promise<void>) => void held.push(until) };
    const answer = await dispatch(context, request, this.#share);
    return answer && { ...answer, reply_to: request.id };
  }

  #failed(thrown: unknown, replyTo: RequestId | null): void {
    const error = toServerError(thrown);
    if (isDefect(error)) this.#log.error({ err: thrown }, 'request failed');
    else this.#log.debug({ code: error.code }, 'request refused');
    this.#services.observer?.invalid?.(error.code);
    this.#refuse(error, replyTo);
  }

  /** What handlers see of this connection, the same in every request. */
  #handlerContext(): Omit<HandlerContext, 'holdRequest'> {
    return {
      client: this.#client,
      services: this.#services,
      sessions: this.#sessions,
      throttle: this.#throttle,
      videoMemory: this.#videoMemory,
      memory: this.#memory.ledger,
      send: (frame) => this.#send(frame),
      waitForOutput: (signal) => this.#gate.enter(signal),
      reserve: async (bytes, signal) => {
        const giveBack = await this.#memory.reserve(bytes, signal);
        return () => this.#whenWritten(giveBack);
      },
    };
  }

  #refuse(error: ServerError, replyTo: RequestId | null): void {
    this.#send({ type: 'Error', reply_to: replyTo, ...errorFields(error) });
  }

  #send(frame: ServerFrame): void {
    if (!this.#socket.writable) return;
    this.#outbox.send(frame);
  }

  /** Calls back when no long reply waits to be written. Until then the memory of its results counts. */
  #whenWritten(callback: () => void): void {
    this.#afterWriting.push(callback);
    this.#callAfterWriting();
  }

  #callAfterWriting(): void {
    if (!this.#outbox.busy) for (const callback of this.#afterWriting.splice(0)) callback();
  }

  #leaveLoop(): void {
    this.#share.leave();
    this.#shortShare.leave();
  }

  #countUnsent(): void {
    this.#callAfterWriting();
    // What a slice writes is counted at its end: most of it goes out then.
    if (this.#socket.writableCorked === 0) this.#memory.unsent(this.#socket.writableLength);
    if (this.#isUnread()) this.#deadlines.unread();
  }

  #dropUnread(): void {
    this.#log.warn({ unsent: this.#socket.writableLength }, 'client dropped: it does not read');
    this.#socket.destroy();
  }

  /** Closes a silent connection without a session. */
  #dropSilent(): boolean {
    if (this.#sessions.size > 0 || this.#requests > 0) return true;
    const { idleMs } = this.#limits;
    const message = `no session and no request for ${idleMs} ms; the connection is closed`;
    this.expel(serverError(6004, message, { limit_ms: idleMs }));
    return false;
  }

  #dropUnfinished(): void {
    if (this.#ended) return;
    if (this.#decoder.waitingBytes > 0) {
      this.#share.request();
      return;
    }
    const { frameMs } = this.#limits;
    this.#log.warn({ frameMs }, 'client dropped: it does not finish a frame');
    const message = `a frame was begun and not finished within ${frameMs} ms; the connection is closed`;
    this.#loseFraming(serverError(1006, message, { limit_ms: frameMs }));
  }

  /** Drops received data that is not being served. */
  #forgetReceived(): void {
    this.#parsing?.memory.release();
    this.#parsing = undefined;
    this.#memory.grown();
    this.#waiting = undefined;
    this.#decoder.clear();
    this.#memory.received(0);
  }

  /** Ends the connection: sends the reason, discards all input, and closes. */
  expel(error: ServerError): void {
    if (!this.#ended) this.#loseFraming(error);
  }

  /** Handles lost framing: sends the reason, discards the rest, and closes. */
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

  /** Ends the connection after pending output. */
  #endSocket(): void {
    this.#farewell = false;
    this.#socket.end();
  }
}
