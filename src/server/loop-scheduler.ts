import { AsyncResource } from 'node:async_hooks';
import type { LoopTurns } from '../lifecycle/loop-turn.js';
import { RecentUse } from '../lifecycle/recent-use.js';

/** Work of one client that is done in slices. */
export interface LoopWork {
  /** Works until nothing is left (returns false) or until `isDue()` (returns true). Never throws. */
  serve(isDue: () => boolean): boolean;
  /** Called after each slice, once its promise callbacks have run. */
  settle(): void;
}

export interface LoopLimits {
  /** Longest slice of one client in ms. */
  sliceMs: number;
  /** Total time of all slices between two polls of sockets and timers, in ms. */
  turnMs: number;
}

const defaultLimits: LoopLimits = { sliceMs: 0.5, turnMs: 3 };

/** Shortest slice, as a part of the longest: below, changing between clients would take most of the time. */
const shortestPart = 1 / 4;

/** A client's place in the scheduler. */
export interface LoopShare extends LoopTurns {
  /** Requests a slice. Further requests before it runs have no effect. */
  request(): void;
  /** Leaves the scheduler. Waiting steps run in the next turn of the event loop. */
  leave(): void;
}

interface Member {
  readonly work: LoopWork;
  readonly use: RecentUse;
  /** Steps of its requests that wait for a turn: one in each slice. */
  readonly steps: (() => void)[];
  /** What its latest slice took, in ms. */
  latest: number;
}

/**
 * Shares the event loop among clients. The next slice goes to the client with the least recent use, so that a light client is
 * served before heavy ones, however many there are, and heavy ones share equally.
 */
export class LoopScheduler {
  readonly #limits: LoopLimits;
  readonly #now: () => number;
  /** Waiting members in request order. */
  readonly #waiting = new Set<Member>();
  /** Slices run outside of any client's log context. */
  readonly #start: () => void;
  #running = false;
  /** Time used in this turn of the event loop. */
  #spent = 0;
  #turnEnds = false;

  /** `now` returns the time in ms. */
  constructor(limits: LoopLimits = defaultLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
    this.#start = AsyncResource.bind(() => void this.#run());
  }

  /** Clients that wait for a slice. */
  get waiting(): number {
    return this.#waiting.size;
  }

  join(work: LoopWork): LoopShare {
    const member: Member = { work, use: new RecentUse(), steps: [], latest: 0 };
    let left = false;
    const request = () => {
      this.#waiting.add(member);
      if (!this.#running && this.#spent < this.#limits.turnMs) this.#start();
    };
    const sliceMs = () => this.#sliceMs;
    return {
      request,
      get sliceMs() {
        return sliceMs();
      },
      turn: () =>
        new Promise((resolve) => {
          if (left) {
            setImmediate(resolve);
            return;
          }
          member.steps.push(resolve);
          request();
        }),
      leave: () => {
        left = true;
        this.#waiting.delete(member);
        for (const step of member.steps.splice(0)) setImmediate(step);
      },
    };
  }

  /** With many waiting clients slices are short, so that each of them is served about once in a turn of the event loop. */
  get #sliceMs(): number {
    const { sliceMs, turnMs } = this.#limits;
    return Math.max(shortestPart * sliceMs, Math.min(sliceMs, turnMs / (1 + this.#waiting.size)));
  }

  async #run(): Promise<void> {
    this.#running = true;
    this.#endTurn();
    const { turnMs } = this.#limits;
    while (this.#waiting.size > 0 && this.#spent < turnMs) this.#spent += await this.#slice(this.#next());
    this.#running = false;
  }

  /** Resets the time after the event loop has polled sockets and timers. */
  #endTurn(): void {
    if (this.#turnEnds) return;
    this.#turnEnds = true;
    setImmediate(() => {
      this.#turnEnds = false;
      this.#spent = 0;
      if (this.#waiting.size > 0 && !this.#running) this.#start();
    });
  }

  #next(): Member {
    const now = this.#now();
    let least = Number.POSITIVE_INFINITY;
    let next: Member | undefined;
    for (const member of this.#waiting) {
      const used = member.use.lately(now);
      if (used >= least) continue;
      least = used;
      next = member;
    }
    this.#waiting.delete(next as Member);
    return next as Member;
  }

  /**
   * The time that a slice counts for. One that took far longer than slices may and than the one before it was interrupted, by another
   * program or the garbage collector: the client does not wait for that.
   */
  #charge(member: Member, took: number): number {
    const charge = Math.min(took, Math.max(this.#limits.sliceMs, 2 * member.latest));
    member.latest = took;
    return charge;
  }

  /** Runs one slice of a client. Returns its duration, replies included. */
  async #slice(member: Member): Promise<number> {
    const { work, use, steps } = member;
    const began = this.#now();
    const due = began + this.#sliceMs;
    steps.shift()?.();
    const more = work.serve(() => this.#now() >= due);
    await promiseCallbacksRun();
    work.settle();
    const now = this.#now();
    use.add(this.#charge(member, now - began), now);
    if (more || steps.length > 0) this.#waiting.add(member);
    return now - began;
  }
}

/** Resolves when no promise callback is pending. */
async function promiseCallbacksRun(): Promise<void> {
  // From a promise callback, the next tick runs after all other callbacks.
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
}
