import type { FrameSocket } from '../doors/host.js';
import type { ClientMemory } from '../fairness/client-memory.js';
import type { Log } from '../log/log.js';
import type { SessionState } from '../operations/monitor/state.js';
import { type ServerError, serverError } from '../protocol/errors.js';
import { type BudgetStatus, protocolVersion } from '../protocol/frames.js';
import type { DeclaredStorages } from '../storages/session-folders.js';
import { Client } from './client.js';
import type { ConnectionLimits } from './connection-limits.js';
import { Deadlines } from './deadlines.js';
import { Intake } from './intake.js';
import { Output } from './output.js';
import { Requests } from './requests.js';
import type { Services } from './services.js';
import type { ClientGate } from './session-table.js';

export interface ConnectionOptions {
  readonly limits: ConnectionLimits;
  readonly memory: ClientMemory;
  readonly gate: ClientGate;
  /** Storages of the operator's config that its sessions know by name. Default: none. */
  readonly declared?: DeclaredStorages | undefined;
}

/**
 * A client that sends frames: they come in through its intake, become requests, and are answered through its output. Requests are accepted one
 * by one and only while the client keeps up, so that its memory is bounded (docs/reference/protocol.md, "Limits"): `unsentBytes`
 * of replies plus the results of `producers` searches and turns, `requests` requests, and its memory budget for received bytes
 * and unfinished turns.
 */
export class Connection {
  readonly #socket: FrameSocket;
  readonly #limits: ConnectionLimits;
  readonly #log: Log;
  readonly #client: Client;
  readonly #intake: Intake;
  readonly #requests: Requests;
  readonly #output: Output;
  #ended = false;
  /** Resolves when the socket is closed and all sessions have released their resources. */
  readonly closed: Promise<void>;

  constructor(socket: FrameSocket, services: Services, options: ConnectionOptions) {
    const { limits, memory, gate, declared } = options;
    const { config, version } = services;
    this.#socket = socket;
    this.#limits = limits;
    this.#client = new Client(
      services,
      {
        name: `${socket.remoteAddress}:${socket.remotePort}`,
        memory,
        producers: limits.producers,
        gate,
        declared,
      },
      {
        serve: (isDue) => this.#work(isDue),
        serveShort: () => this.#workShortly(),
        settle: () => this.#output.flush(),
        lags: () => this.#output.lags,
        whenWritten: (callback) => this.#output.whenWritten(callback),
      },
    );
    this.#log = this.#client.log;
    const { account } = this.#client;
    const deadlines = this.#deadlines();
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
    socket.on('error', (error) => this.#log.debug({ err: error }, 'socket error'));
    socket.on('data', () => {
      deadlines.heard();
      this.#client.heard();
    });
    const maxFrameBytes = config.max_frame_mb * 1024 * 1024;
    const { unsentBytes } = limits;
    this.#output = new Output(socket, account, { deadlines, maxFrameBytes, unsentBytes });
    this.#requests = new Requests({
      limit: limits.requests,
      client: this.#client,
      observer: services.observer,
      output: this.#output,
      ended: () => this.#intake.goOn(),
    });
    this.#intake = new Intake(socket, account, {
      maxFrameBytes,
      deadlines,
      requests: this.#requests,
      audio: (frame) => {
        const error = this.#client.speech.audio(frame);
        if (error !== undefined) this.#output.refuse(error, null);
      },
      lost: (error) => this.expel(error),
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        deadlines.end();
        resolve(this.#closed());
      });
    });
    this.#log.debug('connected');
    this.#output.send({ type: 'Hello', protocol: protocolVersion, server: 'lorekeep', version });
  }

  get address(): string {
    return this.#client.name;
  }

  /** Memory that is held for it. */
  get budget(): BudgetStatus {
    return this.#client.budget;
  }

  get sessionCount(): number {
    return this.#client.sessions.size;
  }

  /** The first `most` of its sessions. */
  sessionStates(most: number): SessionState[] {
    return this.#client.sessionStates(most);
  }

  /** Ends every session for `reason`, sends the remaining frames and closes the socket. */
  async close(reason: ServerError): Promise<void> {
    this.#stop();
    await this.#client.endSessions(reason);
    this.#output.finish();
    const late = setTimeout(() => this.#socket.destroy(), this.#limits.farewellMs);
    await this.closed;
    clearTimeout(late);
  }

  /** Ends the connection: sends the reason, discards all input, and closes. */
  expel(error: ServerError): void {
    if (this.#ended) return;
    this.#stop();
    this.#output.refuse(error, null);
    this.#log.debug({ code: error.code }, 'the connection is ended');
    this.#output.end();
    this.#socket.resume();
    const late = setTimeout(() => this.#socket.destroy(), this.#limits.farewellMs);
    this.#socket.once('close', () => clearTimeout(late));
  }

  /** No further request begins. */
  #stop(): void {
    this.#ended = true;
    this.#intake.end();
    this.#requests.stop();
  }

  /** A slice of this client's work: long replies first, then requests, while the client keeps up. Returns as LoopWork.serve(). */
  #work(isDue: () => boolean): number {
    this.#socket.cork();
    return this.#output.write(isDue) ? Number.POSITIVE_INFINITY : this.#intake.take(isDue);
  }

  #workShortly(): number {
    this.#socket.cork();
    return this.#intake.takeShort();
  }

  async #closed(): Promise<void> {
    this.#stop();
    this.#output.clear();
    this.#log.debug('disconnected');
    await this.#client.close(serverError(2002, 'the connection was closed'));
  }

  #deadlines(): Deadlines {
    return new Deadlines(this.#limits, {
      stalled: () => this.#dropUnread(),
      unfinished: () => this.#dropUnfinished(),
      silent: () => this.#dropSilent(),
    });
  }

  #dropUnread(): void {
    this.#log.warn({ unsent: this.#socket.writableLength }, 'client dropped: it does not read');
    this.#socket.destroy();
  }

  /** Closes a silent connection without a session. */
  #dropSilent(): boolean {
    if (this.sessionCount > 0 || this.#requests.serving > 0 || this.#intake.isParsing) return true;
    const { idleMs } = this.#limits;
    const message = `no session and no request for ${idleMs} ms; the connection is closed`;
    this.expel(serverError(6004, message, { limit_ms: idleMs }));
    return false;
  }

  #dropUnfinished(): void {
    if (this.#ended) return;
    if (this.#intake.holdsBytes) {
      this.#client.account.loop.request();
      return;
    }
    const { frameMs } = this.#limits;
    this.#log.warn({ frameMs }, 'client dropped: it does not finish a frame');
    const message = `a frame was begun and not finished within ${frameMs} ms; the connection is closed`;
    this.expel(serverError(1006, message, { limit_ms: frameMs }));
  }
}
