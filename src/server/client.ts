import { withSlices } from '../base/waiting/next-slice.js';
import { Account, type AccountClient } from '../fairness/account.js';
import type { ClientMemory } from '../fairness/client-memory.js';
import type { Log } from '../log/log.js';
import type { SessionState } from '../operations/monitor/state.js';
import type { ServerError } from '../protocol/errors.js';
import type { BudgetStatus, ServerFrame } from '../protocol/frames.js';
import { idOf, parseRequest } from '../protocol/request.js';
import type { DeclaredStorages } from '../storages/session-folders.js';
import { dispatch } from './dispatch.js';
import { checkRight, rightOf } from './rights.js';
import type { Services } from './services.js';
import { type ClientGate, SessionTable } from './session-table.js';
import { SpeechTable } from './speech/speech-table.js';
import type { ThrottleReports } from './throttle.js';
import type { VideoMemoryWish } from './video-memory.js';

export interface ClientOptions {
  /** Its name in the log and in the monitor. */
  readonly name: string;
  readonly memory: ClientMemory;
  /** Results that may be made at once. */
  readonly producers: number;
  readonly gate: ClientGate;
  /** Storages of the operator's config that its sessions know by name. Default: none. */
  readonly declared?: DeclaredStorages | undefined;
}

/** The outlet of one request. */
export interface RequestOutlet {
  /** Takes events, and replies that go out before the handler returns. */
  send(frame: ServerFrame): void;
  /** Whether the client can answer the events of a turn. */
  readonly attended: boolean;
  /** Keeps the request's memory counted until the promise settles. */
  holdRequest(until: Promise<void>): void;
}

/**
 * One client of the server, whatever its transport: its account, its sessions and its requests. A TCP connection and each
 * door make one per connection.
 */
export class Client {
  readonly name: string;
  readonly log: Log;
  readonly account: Account;
  readonly sessions: SessionTable;
  /** Its streams of audio. */
  readonly speech: SpeechTable = new SpeechTable();
  readonly #services: Services;
  readonly #throttle: ThrottleReports;
  readonly #videoMemory: VideoMemoryWish;

  constructor(services: Services, options: ClientOptions, duty: AccountClient) {
    const { name, memory, producers, gate, declared } = options;
    const { loop, workers } = services;
    this.name = name;
    this.log = services.log.child({ client: name });
    this.#services = services;
    this.account = new Account({ memory, loop, workers, producers }, duty);
    this.sessions = new SessionTable(services, this.account, gate, declared);
    this.#throttle = services.throttle.join();
    this.#videoMemory = services.videoMemory.join();
  }

  /** Memory that is held for it. */
  get budget(): BudgetStatus {
    return this.account.memory.ledger.status;
  }

  /** The first `most` of its sessions. */
  sessionStates(most: number): SessionState[] {
    return this.sessions.states(most);
  }

  /** Tells that it has sent something. */
  heard(): void {
    this.#throttle.heard();
  }

  /**
   * Answers a parsed request: the reply or the error, or undefined if the handler has sent it. @throws UnknownFrameType,
   * InvalidField, RightMissing
   */
  async answer(object: Record<string, unknown>, outlet: RequestOutlet): Promise<object | undefined> {
    const { debug } = this.#services;
    if (debug !== undefined && object.type === debug.type) {
      checkRight(this.sessions.rights, 'files', debug.type);
      const answer = await debug.serve(object, (session) => void this.sessions.get(session));
      return { ...answer, reply_to: idOf(object) };
    }
    const request = parseRequest(object);
    checkRight(this.sessions.rights, rightOf[request.type], request.type);
    const context = {
      client: this.name,
      services: this.#services,
      sessions: this.sessions,
      throttle: this.#throttle,
      videoMemory: this.#videoMemory,
      account: this.account,
      speech: this.speech,
      ...outlet,
    };
    const answer = await dispatch(context, request);
    return answer && { ...answer, reply_to: request.id };
  }

  /** Ends every session for `reason`. Never rejects. */
  async endSessions(reason: ServerError): Promise<void> {
    try {
      await withSlices(this.account.loop, () => this.sessions.closeAll(reason));
    } catch (error) {
      this.log.error({ err: error }, 'a session did not close cleanly');
    }
  }

  /** It is gone: its reports no longer count, its sessions end, and its account closes. */
  async close(reason: ServerError): Promise<void> {
    this.#throttle.end();
    this.#videoMemory.end();
    await this.endSessions(reason);
    this.account.close();
  }
}
