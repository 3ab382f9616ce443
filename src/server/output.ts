import type { FrameSocket } from '../doors/host.js';
import type { Account } from '../fairness/account.js';
import type { ServerError } from '../protocol/errors.js';
import type { RequestId, ServerFrame } from '../protocol/frames.js';
import { errorFrame } from '../storages/failure.js';
import type { Deadlines } from './deadlines.js';
import { Outbox } from './outbox.js';

const nothing = Buffer.alloc(0);

export interface OutputOptions {
  readonly deadlines: Deadlines;
  readonly maxFrameBytes: number;
  /** Bytes of unread replies above which the client lags. */
  readonly unsentBytes: number;
}

/** The frames for one client, and their bytes until it reads them. */
export class Output {
  readonly #socket: FrameSocket;
  readonly #account: Account;
  readonly #options: OutputOptions;
  readonly #outbox: Outbox;
  readonly #afterWriting: (() => void)[] = [];
  #countsLater = false;
  /** Whether the socket ends once the outbox is empty. */
  #isEnding = false;

  constructor(socket: FrameSocket, account: Account, options: OutputOptions) {
    this.#socket = socket;
    this.#account = account;
    this.#options = options;
    this.#outbox = new Outbox(socket, options.maxFrameBytes, {
      requestTime: () => account.loop.request(),
      written: () => this.#countUnsent(),
    });
    socket.on('drain', () => {
      options.deadlines.read();
      account.memory.unsent(socket.writableLength);
      account.caughtUp();
      account.loop.request();
    });
  }

  /** Whether the client does not keep up with its replies. */
  get lags(): boolean {
    return this.#outbox.busy || this.#isUnread;
  }

  get #isUnread(): boolean {
    return this.#socket.writableLength > this.#options.unsentBytes;
  }

  send(frame: ServerFrame): void {
    if (this.#socket.writable) this.#outbox.send(frame);
  }

  refuse(error: ServerError, replyTo: RequestId | null): void {
    this.send({ ...errorFrame(error), reply_to: replyTo });
  }

  /** Writes long frames in a slice. Returns whether some are left. */
  write(isDue: () => boolean): boolean {
    if (this.#outbox.encode(isDue)) return true;
    if (this.#isEnding) this.#endSocket();
    this.#account.caughtUp();
    return false;
  }

  /** Sends the replies of a slice together. */
  flush(): void {
    const lagged = this.lags;
    this.#socket.uncork();
    this.#countSent();
    if (lagged && !this.lags) this.#account.loop.request();
  }

  /** Calls back when no long frame waits to be written. Until then the memory of its results counts. */
  whenWritten(callback: () => void): void {
    this.#afterWriting.push(callback);
    this.#callAfterWriting();
  }

  /** Ends the socket after pending output. */
  end(): void {
    this.#isEnding = true;
    if (!this.#outbox.busy) this.#endSocket();
  }

  /** Writes pending output at once, and closes the socket once the client has read it. */
  finish(): void {
    this.#outbox.encode(() => false);
    this.#socket.destroySoon();
  }

  /** Drops pending output: the socket is closed. */
  clear(): void {
    this.#outbox.clear();
    this.#callAfterWriting();
    this.#account.memory.unsent(0);
  }

  #endSocket(): void {
    this.#isEnding = false;
    this.#socket.end();
  }

  #callAfterWriting(): void {
    if (!this.#outbox.busy) for (const callback of this.#afterWriting.splice(0)) callback();
  }

  #countUnsent(): void {
    this.#callAfterWriting();
    // Bytes written in a slice are counted at its end: most of them go out then.
    if (this.#socket.writableCorked === 0) this.#account.memory.unsent(this.#socket.writableLength);
    if (this.#isUnread) this.#options.deadlines.unread();
  }

  /** Counts unread bytes, and again once they are sent, because the socket reports only the end of a long queue. */
  #countSent(): void {
    const { writableLength, writable } = this.#socket;
    this.#account.memory.unsent(writableLength);
    if (writableLength === 0 || !writable || this.#countsLater) return;
    this.#countsLater = true;
    this.#socket.write(nothing, () => {
      this.#countsLater = false;
      if (!this.#socket.destroyed) this.#account.memory.unsent(this.#socket.writableLength);
    });
  }
}
