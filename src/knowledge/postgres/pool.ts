import { onAbort } from '../../../lib/basics.js';
import type { Session } from './session.js';

/** Time after which an idle session is closed. */
const idleMs = 60_000;

/** Shares a limited number of sessions. The caller that has waited longest gets the next one. */
export class Pool {
  readonly #open: () => Promise<Session>;
  readonly #most: number;
  readonly #idle: { session: Session; timer: NodeJS.Timeout }[] = [];
  readonly #waiting: (() => void)[] = [];
  /** Ends of what opens, uses or settles a session, and the sessions among them. */
  readonly #busy = new Set<Promise<unknown>>();
  readonly #lent = new Set<Session>();
  #closed = false;

  constructor(open: () => Promise<Session>, most: number) {
    this.#open = open;
    this.#most = most;
  }

  /** Lends a session to `work`. @throws errors of opening one and of `work`; the signal's reason while it waits */
  async use<T>(work: (session: Session) => Promise<T>, during: AbortSignal): Promise<T> {
    while (this.#busy.size >= this.#most) await this.#turn(during);
    let end = () => {};
    const busy = new Promise<void>((resolve) => (end = resolve));
    this.#busy.add(busy);
    const leave = () => {
      this.#busy.delete(busy);
      end();
      this.#waiting.shift()?.();
    };
    let session: Session;
    try {
      session = this.#takeIdle() ?? (await this.#opened(during));
    } catch (error) {
      leave();
      throw error;
    }
    this.#lent.add(session);
    try {
      return await work(session);
    } finally {
      void session.settle().then(() => {
        this.#lent.delete(session);
        this.#keep(session);
        leave();
      });
    }
  }

  /** Opens a session. Who is aborted does not wait for it: it is kept for the next one. */
  async #opened(during: AbortSignal): Promise<Session> {
    const opening = this.#open();
    let stop = () => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = onAbort(during, () => reject(during.reason));
    });
    try {
      return await Promise.race([opening, aborted]);
    } catch (error) {
      opening.then(
        (session) => this.#keep(session),
        () => {},
      );
      throw error;
    } finally {
      stop();
    }
  }

  #takeIdle(): Session | undefined {
    for (;;) {
      const last = this.#idle.pop();
      if (last === undefined) return undefined;
      clearTimeout(last.timer);
      if (last.session.isUsable) return last.session;
    }
  }

  #keep(session: Session): void {
    if (!session.isUsable) return;
    if (this.#closed) return void session.close();
    const timer = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((each) => each.session === session),
        1,
      );
      void session.close();
    }, idleMs);
    timer.unref();
    this.#idle.push({ session, timer });
  }

  /** Waits until a session is given back. */
  #turn(during: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = () => {
        stop();
        resolve();
      };
      const stop = onAbort(during, () => {
        this.#waiting.splice(this.#waiting.indexOf(next), 1);
        reject(during.reason);
      });
      this.#waiting.push(next);
    });
  }

  /** Closes all sessions. Those that are not given back within a second are cut. */
  async close(): Promise<void> {
    this.#closed = true;
    const idle = this.#idle.splice(0);
    for (const { timer } of idle) clearTimeout(timer);
    const cut = setTimeout(() => {
      for (const session of this.#lent) session.cut();
    }, 1000);
    await Promise.all([...idle.map(({ session }) => session.close()), ...this.#busy]);
    clearTimeout(cut);
  }
}
