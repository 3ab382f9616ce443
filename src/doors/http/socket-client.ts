import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServerError } from '../../protocol/errors.js';
import type { DoorClient, DoorHost, DoorOutput } from '../host.js';

/** Bytes of unread replies above which a client lags, as at the TCP port. */
const unsentBytes = 1024 * 1024;

const nothing = Buffer.alloc(0);

/** The client behind one HTTP connection. Its requests come one after another. */
export class SocketClient implements DoorOutput {
  readonly client: DoorClient;
  readonly #socket: Socket;
  readonly #stallMs: () => number;
  readonly #afterWriting: (() => void)[] = [];
  #response: ServerResponse | undefined;
  #stall: NodeJS.Timeout | undefined;
  #countsLater = false;

  /** @throws ServerMemoryExceeded */
  constructor(socket: Socket, host: DoorHost) {
    this.#socket = socket;
    this.#stallMs = () => host.config.limits.unread_timeout_ms;
    const address = socket.remoteAddress ?? '';
    this.client = host.connect(address, `${address}:${socket.remotePort} (http)`, this);
    socket.on('drain', () => this.#drained());
    socket.once('close', () => {
      clearTimeout(this.#stall);
      this.#callAfterWriting();
      void this.client.close();
    });
  }

  /** A request begins: its replies go to this response. */
  begin(response: ServerResponse): void {
    this.#response = response;
    response.on('drain', () => this.#drained());
    response.once('close', () => {
      if (this.#response === response) this.#response = undefined;
      this.#callAfterWriting();
    });
  }

  lags(): boolean {
    return this.#unsent > unsentBytes;
  }

  whenWritten(callback: () => void): void {
    if (this.#response === undefined) callback();
    else this.#afterWriting.push(callback);
  }

  expel(reason: ServerError): void {
    this.client.log.debug({ code: reason.code }, 'the connection is ended');
    this.#socket.destroy();
  }

  /** Counts the bytes that the client has not read, and drops a client that does not read. */
  wrote(): void {
    this.client.account.memory.unsent(this.#unsent);
    if (this.lags()) {
      this.#stall ??= setTimeout(() => {
        this.client.log.warn({ unsent: this.#unsent }, 'client dropped: it does not read');
        this.#socket.destroy();
      }, this.#stallMs());
    }
    if (this.#unsent === 0 || this.#countsLater || !this.#socket.writable) return;
    this.#countsLater = true;
    // The socket reports only the end of a long queue.
    this.#socket.write(nothing, () => {
      this.#countsLater = false;
      this.#drained();
    });
  }

  get #unsent(): number {
    return this.#socket.writableLength + (this.#response?.writableLength ?? 0);
  }

  #drained(): void {
    const { account } = this.client;
    account.memory.unsent(this.#socket.destroyed ? 0 : this.#unsent);
    if (this.lags()) return;
    clearTimeout(this.#stall);
    this.#stall = undefined;
    account.caughtUp();
  }

  #callAfterWriting(): void {
    for (const callback of this.#afterWriting.splice(0)) callback();
  }
}
