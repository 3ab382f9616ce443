import { fail, type ServerError } from '../protocol/errors.js';
import { Session } from '../session/session.js';
import type { Services } from './services.js';

/** Most sessions of one connection. */
export const maxSessions = 10_000;

/** The sessions of one connection: no other connection can name them, and they end with it. */
export class SessionTable {
  readonly #services: Services;
  readonly #sessions = new Map<string, Session>();
  readonly #holds = new Map<Session, () => void>();
  /** Sessions that have no id any more and are still closing. */
  readonly #closing = new Set<Promise<void>>();

  constructor(services: Services) {
    this.#services = services;
  }

  /** `folder`: the session's own storage root, or undefined for the server's. @throws TooManySessions */
  create(folder?: string): Session {
    if (this.#sessions.size >= maxSessions) {
      fail(2003, `the connection has ${maxSessions} sessions, as many as it may have; destroy one before`, {
        limit: maxSessions,
      });
    }
    const { models, files, lists, nodeTypes, log } = this.#services;
    const root = folder === undefined ? this.#services.root : this.#services.root.within(folder);
    const session = new Session(
      this.#services.nextSessionId(),
      { models, files, lists, nodeTypes, root },
      log,
    );
    this.#sessions.set(session.id, session);
    this.#holds.set(session, this.#services.sessionIdle.hold());
    return session;
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

  /** Its id means nothing from now on; resolves when all that it owned is closed. @throws SessionNotFound */
  async destroy(id: string, reason: ServerError): Promise<void> {
    await this.#end(this.get(id), reason);
  }

  /** Ends all of them, and waits for those that were ending already. */
  async closeAll(reason: ServerError): Promise<void> {
    for (const session of this.#sessions.values()) this.#end(session, reason);
    await Promise.all(this.#closing);
  }

  #end(session: Session, reason: ServerError): Promise<void> {
    this.#sessions.delete(session.id);
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
