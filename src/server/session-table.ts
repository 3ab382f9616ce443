import type { PatternShare } from '../agents/lists/pattern-thread.js';
import { mapInSlices } from '../base/waiting/next-slice.js';
import { fullGrant, type Grant, type Right } from '../config/keys-file.js';
import type { Account } from '../fairness/account.js';
import type { Holding } from '../fairness/client-memory.js';
import { sessionBytes } from '../fairness/estimates.js';
import type { SessionState } from '../operations/monitor/state.js';
import { fail, type ServerError } from '../protocol/errors.js';
import type { DeclaredStorages } from '../storages/session-folders.js';
import type { StorageRoot } from '../storages/storage-root.js';
import { checkRight } from './rights.js';
import type { ModelServices, ReportServices, SessionServices } from './services.js';
import { Session } from './session.js';
import { storageVersions } from './storage-versions.js';

/** The gate as one client meets it. */
export interface ClientGate {
  /** Whether the client needs a secret. */
  readonly isClosed: boolean;
  /** The client's address: one per machine. */
  readonly address: string;
  /** Returns the rights that a secret gives. @throws AccessTokenMissing, AccessTokenWrong, TooManyWrongTokens */
  admit(secret: string | undefined): Grant;
}

type TableServices = ModelServices & SessionServices & Pick<ReportServices, 'config' | 'log'>;

/** Number of sessions whose end is told. */
const mostTaken = 1024;

/** The sessions of one connection. No other connection can name them, and they end with it. */
export class SessionTable {
  readonly #services: TableServices;
  readonly #gate: ClientGate;
  readonly #declared: DeclaredStorages;
  readonly #sessions = new Map<string, Session>();
  readonly #account: Account;
  readonly #patterns: PatternShare;
  readonly #holds = new Map<Session, () => void>();
  /** Sessions without an id that are still closing. */
  readonly #closing = new Set<Promise<void>>();
  /** Why sessions ended that other connections have resumed; the latest at the end. */
  readonly #taken = new Map<string, ServerError>();
  /** The rights that the client has proved; undefined before its first session. */
  #grant: Grant | undefined;
  /** The reason why no more sessions are created. */
  #closed: ServerError | undefined;

  /** `declared`: storages of the operator's config that the sessions know by name. */
  constructor(
    services: TableServices,
    account: Account,
    gate: ClientGate,
    declared: DeclaredStorages = new Map(),
  ) {
    this.#services = services;
    this.#declared = declared;
    this.#gate = gate;
    this.#account = account;
    this.#patterns = services.patterns.join();
  }

  /** The client's address: one per machine. */
  get address(): string {
    return this.#gate.address;
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

  /** The rights of the latest secret that was right. A client without one has no session in which it could use any. */
  get rights(): ReadonlySet<Right> {
    return (this.#grant ?? fullGrant).rights;
  }

  /**
   * `folder`: the session's own storage root, or undefined for the server's.
   * @throws TooManySessions, ClientMemoryExceeded, ServerMemoryExceeded, SessionFolderRefused, RightMissing; as the
   * gate's admit()
   */
  async create(folder: string | undefined, accessToken: string | undefined): Promise<Session> {
    const { folders } = this.#services;
    const grant = this.#gate.admit(accessToken);
    this.#grant = grant;
    const mayOpen = grant.rights.has('files');
    if (folder !== undefined && !mayOpen) checkRight(grant.rights, 'files', 'storage_data_folder');
    const root = folder === undefined ? folders.root : await folders.within(folder);
    return this.#add(mayOpen ? root : folders.none, folder);
  }

  /**
   * Creates a session of the server's root for requests that a door makes itself. `declared`: the storages that it knows by
   * name. @throws as create()
   */
  open(grant: Grant, declared = this.#declared): Session {
    this.#grant = grant;
    return this.#add(this.#services.folders.root, undefined, declared);
  }

  #add(root: StorageRoot, folder: string | undefined, declared = this.#declared): Session {
    if (this.#closed !== undefined) throw this.#closed;
    const { max_sessions_per_connection: limit } = this.#services.config.limits;
    if (this.#sessions.size >= limit) {
      fail(2003, `the connection has reached its limit of ${limit} sessions; destroy one first`, { limit });
    }
    const memory = this.#account.memory.hold('sessions');
    memory.add(sessionBytes(folder), 'the session was not created');
    try {
      return this.#make(memory, root, declared);
    } catch (error) {
      memory.release();
      throw error;
    }
  }

  #make(memory: Holding, root: StorageRoot, declared: DeclaredStorages): Session {
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
        declared,
        memories: this.#services.memories,
        versions: () => storageVersions(config),
        patterns: this.#patterns,
        forgetting: this.#services.forgetting,
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
    if (this.#grant !== undefined || !this.#gate.isClosed) return;
    const path = 'access_token';
    fail(2010, `${path}: this connection has not sent it; create a session with it before`, { path });
  }

  /** Another connection has resumed a session: it ends. Requests that name it are told so. */
  endTaken(id: string, reason: ServerError): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#taken.set(id, reason);
    const [oldest] = this.#taken.keys();
    if (this.#taken.size > mostTaken && oldest !== undefined) this.#taken.delete(oldest);
    void this.#end(session, reason);
  }

  /** @throws SessionNotFound, SessionTaken */
  get(id: string): Session {
    const session = this.#sessions.get(id);
    if (session === undefined) {
      const taken = this.#taken.get(id);
      if (taken !== undefined) throw taken;
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
