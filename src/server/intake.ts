import type { FrameSocket } from '../doors/host.js';
import type { Account } from '../fairness/account.js';
import { longestAudioFrame } from '../protocol/audio-frame.js';
import { FrameDecoder, frameKind, type WireFrame } from '../protocol/decoder.js';
import type { ServerError } from '../protocol/errors.js';
import { payloadParser } from '../protocol/request.js';
import { toServerError } from '../storages/failure.js';
import { pace } from './connection-limits.js';
import type { Deadlines } from './deadlines.js';
import type { Parsing, Requests } from './requests.js';

/** Time that the event loop takes to receive and copy a byte, its share of garbage collection included: about a millisecond for 1 MiB. */
const readMsPerByte = 1e-6;

/** About the length of a request. */
const bytesPerRequest = 256;

/** Assumed time of receiving the first piece of a message, in ms. */
const usualPieceMs = 2;

export interface IntakeOptions {
  readonly maxFrameBytes: number;
  readonly deadlines: Deadlines;
  readonly requests: Requests;
  /** Takes a binary frame, in the order of the frames. */
  audio(frame: WireFrame): void;
  /** The bytes that follow cannot be divided into frames. */
  lost(error: ServerError): void;
}

/**
 * Makes requests of one client's bytes, in slices. A frame is taken when the client keeps up with its replies and there is memory
 * for it; until then the network is not read.
 */
export class Intake {
  readonly #socket: FrameSocket;
  readonly #account: Account;
  readonly #options: IntakeOptions;
  readonly #decoder: FrameDecoder;
  /** A frame that waits for memory. */
  #waiting: WireFrame | undefined;
  #parsing: Parsing | undefined;
  #cancelWait: (() => void) | undefined;
  #takesShort = false;
  /** Whether the socket is read. */
  #reading = true;
  #ended = false;
  /** Time of receiving the latest piece of a message, and the part of it that is paid for the next one, in ms. */
  #pieceMs = usualPieceMs;
  #prepaidMs = 0;

  constructor(socket: FrameSocket, account: Account, options: IntakeOptions) {
    this.#socket = socket;
    this.#account = account;
    this.#options = options;
    this.#decoder = new FrameDecoder(options.maxFrameBytes);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('unfinished', (ms: number) => this.#receiveUnfinished(ms));
    // A slice begins at once, and its client is not complete yet.
    if (socket.unfinishedBytes !== undefined) queueMicrotask(() => this.#readLater());
  }

  /** The socket holds a part of a message. */
  #receiveUnfinished(ms: number): void {
    if (this.#ended) return;
    const { loop, memory } = this.#account;
    loop.charge(Math.max(0, ms - this.#prepaidMs));
    this.#prepaidMs = 0;
    this.#pieceMs = ms;
    const { unfinishedBytes = 0 } = this.#socket;
    const refusal = memory.refusal(unfinishedBytes);
    if (refusal !== undefined) this.#options.lost(refusal);
    else if (!this.holdsBytes) this.#adjustReading();
    this.#readLater();
  }

  /** The next piece waits for a slice: one may be thousands of pings, and many sockets are read in one turn of the event loop. */
  #readLater(): void {
    if (this.#ended) return;
    this.#read(false);
    this.#account.loop.request();
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    const { loop, shortLoop } = this.#account;
    this.#decoder.push(chunk);
    loop.charge(chunk.length * readMsPerByte);
    if (this.#decoder.waitingBytes >= pace.maxAhead) this.#read(false);
    const holdsShort = this.#holdsShortFrame;
    if (holdsShort) shortLoop.request();
    if (!holdsShort || chunk.length > pace.pingBytes) loop.request();
  }

  /** A slice of requests. Returns as LoopWork.serve(). */
  take(isDue: () => boolean): number {
    const { requests } = this.#options;
    let more = requests.beginning === 0;
    for (let taken = 0; more && taken < pace.requests && !(taken > 0 && isDue()); taken++)
      more = this.#takeRequest(isDue);
    const waiting = more || requests.beginning > 0 ? this.#waitingRequests : 0;
    if (waiting === 0) this.#adjustReading();
    return waiting;
  }

  /** A slice of short frames: pings are answered, other requests begin in slices of their own. Returns as LoopWork.serve(). */
  takeShort(): number {
    this.#takesShort = true;
    let taken = 0;
    while (taken < pace.shortFrames && this.#holdsShortFrame && this.#takeRequest(() => false)) taken++;
    this.#takesShort = false;
    if (taken === pace.shortFrames && this.#holdsShortFrame) return this.#waitingRequests;
    if (this.holdsBytes) this.#account.loop.request();
    else this.#adjustReading();
    return 0;
  }

  get isParsing(): boolean {
    return this.#parsing !== undefined;
  }

  /** Whether received bytes wait to be examined. */
  get holdsBytes(): boolean {
    return this.#decoder.waitingBytes > 0;
  }

  /** A request has been answered: the next one may be taken. */
  goOn(): void {
    if (!this.#reading || this.holdsBytes) this.#account.loop.request();
  }

  /** Drops received data that is not being served. Nothing is taken afterwards. */
  end(): void {
    this.#ended = true;
    const { memory } = this.#account;
    this.#cancelWait?.();
    this.#parsing?.memory.release();
    this.#parsing = undefined;
    memory.grown();
    this.#waiting = undefined;
    this.#decoder.clear();
    memory.received(0);
  }

  get #holdsShortFrame(): boolean {
    return this.#parsing === undefined && this.#waiting === undefined && this.#decoder.holdsShortFrame;
  }

  /** Returns an estimate from the bytes read. A frame that needs more than a slice counts as infinitely many. */
  get #waitingRequests(): number {
    if (this.#parsing !== undefined || this.#decoder.joining) return Number.POSITIVE_INFINITY;
    return Math.ceil(this.#decoder.waitingBytes / bytesPerRequest);
  }

  /** Continues parsing a frame, or starts the next one, if there is memory for it. Returns false if there is nothing to do. */
  #takeRequest(isDue: () => boolean): boolean {
    const { memory } = this.#account;
    const { deadlines, requests } = this.#options;
    if (this.#parsing !== undefined) {
      if (!memory.mayGrow) return this.#waitForRoom();
      this.#parse(this.#parsing, isDue);
      return true;
    }
    if (this.#ended || !requests.mayBegin) return false;
    this.#waiting ??= this.#nextFrame(isDue);
    const frame = this.#waiting;
    if (frame === undefined) return this.#decoder.joining;
    deadlines.frameEnded();
    this.#countReceived();
    if (frame.kind === frameKind.binary) {
      this.#waiting = undefined;
      this.#options.audio(frame);
      return true;
    }
    const { length } = frame;
    const refusal = memory.refusal(length);
    if (refusal !== undefined) {
      this.#waiting = undefined;
      requests.refuse(frame, refusal);
      return true;
    }
    const begun = this.#account.begin(length);
    if (begun === undefined) return this.#waitForRoom();
    this.#waiting = undefined;
    this.#parsing = { frame, memory: begun, parser: payloadParser(frame.payload) };
    this.#parse(this.#parsing, isDue);
    return true;
  }

  /** Returns the next complete frame. One that can never be accepted is not kept: only its beginning is returned. */
  #nextFrame(isDue: () => boolean): WireFrame | undefined {
    try {
      const frame = this.#decoder.next(isDue);
      if (frame !== undefined || this.#mayArrive) return frame;
      this.#decoder.skip();
      return this.#decoder.next(isDue);
    } catch (error) {
      this.#options.lost(toServerError(error));
      return undefined;
    }
  }

  /** Whether the frame that is arriving may be kept: audio that no stream takes is dropped as it comes. */
  get #mayArrive(): boolean {
    const { announcedBytes, announcedKind } = this.#decoder;
    if (announcedKind === frameKind.binary) return announcedBytes <= longestAudioFrame;
    return this.#account.memory.refusal(announcedBytes) === undefined;
  }

  #parse(parsing: Parsing, isDue: () => boolean): void {
    const { parser, memory } = parsing;
    let failure: unknown;
    try {
      const ended = parser.parse(isDue);
      memory.parsed(parser);
      if (!ended) return;
    } catch (error) {
      failure = error;
    }
    this.#parsing = undefined;
    this.#account.memory.grown();
    void this.#options.requests.serve(parsing, failure, this.#takesShort);
  }

  /** Reads from the network while the client keeps up; otherwise TCP holds the data back. */
  #adjustReading(): void {
    if (this.#ended) return;
    const { memory } = this.#account;
    const { deadlines, requests } = this.#options;
    this.#countReceived();
    const reading =
      requests.mayBegin && this.#waiting === undefined && (memory.mayRead || this.#waitForRoom());
    this.#read(reading);
    const isMidFrame = this.#decoder.midFrame || (this.#socket.unfinishedBytes ?? 0) > 0;
    if (reading && isMidFrame) deadlines.frameBegun();
    else deadlines.frameEnded();
  }

  #read(reading: boolean): void {
    if (reading === this.#reading) return;
    this.#reading = reading;
    if (reading && this.#socket.unfinishedBytes !== undefined) {
      this.#prepaidMs = this.#pieceMs;
      this.#account.loop.charge(this.#prepaidMs);
    }
    if (reading) this.#socket.resume();
    else this.#socket.pause();
  }

  /** Asks for a slice when there may be more memory. */
  #waitForRoom(): false {
    const { memory, loop } = this.#account;
    this.#cancelWait ??= memory.onRoom(() => {
      this.#cancelWait = undefined;
      loop.request();
    });
    return false;
  }

  #countReceived(): void {
    const { unfinishedBytes = 0 } = this.#socket;
    const held = this.#decoder.heldBytes + (this.#waiting?.payload.length ?? 0);
    this.#account.memory.received(held + unfinishedBytes);
  }
}
