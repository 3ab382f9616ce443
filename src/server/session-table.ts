import type { PatternShare } from '../agents/lists/pattern-thread.js';
import { mapInSlices } from '../base/waiting/next-slice.js';
import type { Account } from '../fairness/account.js';
import type { Holding } from '../fairness/client-memory.js';
import { sessionBytes } from '../fairness/estimates.js';
import type { SessionState } from '../operations/monitor/state.js';
import { fail, type ServerError } from '../protocol/errors.js';
import type { StorageRoot } from '../storages/storage-root.js';
import type { ModelServices, ReportServices, SessionServices } from './services.js';
import { Session } from './session.js';

type TableServices = ModelServices & SessionServices & Pick<ReportServices, 'config' | 'log'>;

/** The sessions of one connection. No other connection can name them, and they end with it. */
export class SessionTable {
  readonly #services: TableServices;
  readonly #address: string;
  readonly #sessions = new Map<string, Session>();
  readonly #account: Account;
  readonly #patterns: PatternShare;
  readonly #holds = new Map<Session, () => void>();
  /** Sessions without an id that are still closing. */
  readonly #closing = new Set<Promise<void>>();
  /** Whether the client has sent the access token, if the server requires one. */
  #admitted = false;
  /** The reason why no more sessions are created. */
  #closed: ServerError | undefined;

  /** `address`: of the client. */
  constructor(services: TableServices, account: Account, address: string) {
    this.#services = services;
    this.#address = address;
    this.#account = account;
    this.#patterns = services.patterns.join();
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** The first `most` sessions. */
  states(most: number): SessionState[] {
    const states: SessionState[] = [];
    for (const session of this.#sessions.values()) {
      if (states.length >= most) break;
      states.push(session.state);
    }
    return states;
  }

  /**
   * `folder`: the session's own storage root, or undefined for the server's.
   * @throws TooManySessions, ClientMemoryExceeded, ServerMemoryExceeded, SessionFolderRefused, and as AccessGate.check()
   */
  async create(folder: string | undefined, accessToken: string | undefined): Promise<Session> {
    const { folders, gate } = this.#services;
    gate.check(this.#address, accessToken);
    this.#admitted = true;
    const root = folder === undefined ? folders.root : await folders.within(folder);
    if (this.#closed !== undefined) throw this.#closed;
    return this.#add(root, folder);
  }

  #add(root: StorageRoot, folder: string | undefined): Session {
    const { max_sessions_per_connection: limit } = this.#services.config.limits;
    if (this.#sessions.size >= limit) {
      fail(2003, `the connection has reached its limit of ${limit} sessions; destroy one first`, { limit });
    }
    const memory = this.#account.memory.hold('sessions');
    memory.add(sessionBytes(folder), 'the session was not created');
    try {
      return this.#make(memory, root);
    } catch (error) {
      memory.release();
      throw error;
    }
  }

  #make(memory: Holding, root: StorageRoot): Session {
    const { models, languageModels, rerankers, pulls, files, lists, nodeTypes, log, config } = this.#services;
    const session = new Session(
      this.#services.nextSessionId(),
      {
        models,
        languageModels,
        rerankers,
        modelPulls: pulls,
        pullsAllowed: config.allow_model_pulls,
        files,
        lists,
        nodeTypes,
        root,
        account: this.#account,
        patterns: this.#patterns,
      },
      log,
    );
    this.#sessions.set(session.id, session);
    const wake = this.#services.sessionIdle.hold();
    this.#holds.set(session, () => {
      wake();
      memory.release();
    });
    return session;
  }

  /**
   * Checks that the client has proved itself: with an access token, its connection has had a session.
   * @throws AccessTokenMissing
   */
  checkAdmitted(): void {
    if (this.#admitted || !this.#services.gate.isClosed) return;
    const path = 'access_token';
    fail(2010, `${path}: this connection has not sent it; create a session with it before`, { path });
  }

  /** @throws SessionNotFound */
  get(id: string): Session {
    const session = this.#sessions.get(id);
    if (session === undefined) {
      const shown = JSON.stringify(id.slice(0, 64));
      fail(2001, `session_id: this connection has no session ${shown}`, { path: 'session_id' });
    }
    return session;
  }

  /** Invalidates the id at once. Resolves when everything that the session owned is closed. @throws SessionNotFound */
  async destroy(id: string, reason: ServerError): Promise<void> {
    await this.#end(this.get(id), reason);
  }

  /** Ends all sessions, a few in each turn of the event loop, and waits for those already ending. */
  async closeAll(reason: ServerError): Promise<void> {
    this.#closed = reason;
    await mapInSlices([...this.#sessions.values()], (session) => void this.#end(session, reason), 1);
    await Promise.all(this.#closing);
  }

  #end(session: Session, reason: ServerError): Promise<void> {
    // A request may have ended it while others were ending.
    if (!this.#sessions.delete(session.id)) return Promise.resolve();
    const closing = session.close(reason);
    this.#closing.add(closing);
    const forget = () => {
      this.#closing.delete(closing);
      this.#holds.get(session)?.();
      this.#holds.delete(session);
    };
    closing.then(forget, forget);
    return closing;
  }
}
