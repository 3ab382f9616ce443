import { AsyncResource } from 'node:async_hooks';
import { threadMs } from '../../lib/internal.js';
import { afterPromiseCallbacks } from '../base/waiting/next-slice.js';
import { sliceWatch } from '../base/waiting/slice-watch.js';
import { type ClientSlices, workContext } from '../base/waiting/work-context.js';
import { watchCollections } from './collection-pauses.js';
import { type FairMember, FairQueue } from './fair-queue.js';

/** Work of one client that is done in slices. */
export interface LoopWork {
  /** Works until nothing is left or `isDue()`. Returns the approximate number of waiting requests; 0 if there is nothing to do. Never throws. */
  serve(isDue: () => boolean): number;
  /** Called after each slice, once its promise callbacks have run. */
  settle(): void;
}

export interface LoopLimits {
  /** Longest slice of one client in ms. */
  sliceMs: number;
  /** Total time of all slices between two polls of sockets and timers, in ms. Time charged outside of slices is part of it. */
  turnMs: number;
}

const defaultLimits: LoopLimits = { sliceMs: 0.5, turnMs: 3 };

/** Shortest slice, as a share of the longest: in shorter ones, most of the time would go into switching clients. */
const shortestPart = 1 / 4;

/**
 * Share of its time that a slice costs a client with one request; each waiting request adds the same share. Clients that wait for
 * each answer are thus served before clients that pipeline, until they use eight times as much time.
 */
const lightPart = 1 / 8;

/**
 * Credit for waiting, as a share of the time waited, for a client that does not pipeline. Without it, beside hundreds of
 * pinging clients, a client that also searches would wait for many rounds, until each of them has used as much time.
 */
const waitingPart = 1 / 200;

/** Length, as a share of the longest slice, below which a slice costs its elapsed time: reading the processor time would take too much of it. */
const shortPart = 1 / 5;

/** Longest slice that may cost less than its time, in slices. */
const lightSlices = 4;

/** Source of the time and of the processor time of the event loop's thread, in ms. */
export interface LoopClock {
  now(): number;
  used(): number;
  /** Reports pauses of the thread: begin and duration. The result ends the reports. */
  watchPauses(tell: (began: number, ms: number) => void): () => void;
}

const loopClock: LoopClock = {
  now: () => performance.now(),
  used: threadMs,
  watchPauses: watchCollections,
};

/** A client's place in the scheduler. */
export interface LoopShare extends ClientSlices {
  /** Requests a slice. Further requests before it runs have no effect. */
  request(): void;
  /** Charges time in ms that the event loop has spent for this client outside of its slices. */
  charge(ms: number): void;
  /** Leaves the scheduler. Its waiting steps run in later turns of the event loop, in a time that all who left share. */
  leave(): void;
}

/** The part of a request that waits for a slice. */
interface Step {
  readonly resume: () => void;
  readonly request: string | undefined;
}

interface Member extends FairMember {
  readonly work: LoopWork;
  /** Steps of its requests that wait: one in each slice. */
  readonly steps: Step[];
}

/** A slice and its cost so far. Times in ms. */
interface Slice {
  readonly member: Member;
  readonly began: number;
  readonly ended: number;
  /** The part of its time that a light slice costs. */
  readonly parts: number;
  used: number;
  paid: number;
}

/** Long slices that are remembered until the garbage collector reports its pauses. */
const maxRemembered = 64;

/**
 * Shares the event loop among clients in slices, fairly by time: a light client is served before heavy ones, however many there are, and
 * heavy ones share equally.
 */
export class LoopScheduler {
  readonly #limits: LoopLimits;
  readonly #clock: LoopClock;
  readonly #long: Slice[] = [];
  /** Steps of members that have left. */
  readonly #leftSteps: Step[] = [];
  #resuming = false;
  readonly #waiting: FairQueue<Member>;
  /** Slices run outside of any client's log context. */
  readonly #start: () => void;
  #running = false;
  #members = 0;
  #stopWatching = () => {};
  /** Time used in this turn of the event loop. */
  #spent = 0;
  /** Processor time at the last reading plus the short slices since, and the time at which it was valid. */
  #usedBefore = 0;
  #usedUntil = Number.NEGATIVE_INFINITY;
  #turnEnds = false;

  constructor(limits: LoopLimits = defaultLimits, clock: LoopClock = loopClock) {
    this.#limits = limits;
    // The cost of a slice for a client with one request. With more credit, a crowd of new clients would be served for several
    // rounds before a client that has worked all the time.
    this.#waiting = new FairQueue(lightPart * limits.sliceMs);
    this.#clock = clock;
    this.#start = AsyncResource.bind(() => this.#run());
  }

  /** Clients that wait for a slice. */
  get waiting(): number {
    return this.#waiting.size;
  }

  join(work: LoopWork): LoopShare {
    const member: Member = { work, virtual: 0, since: 0, interest: 0, steps: [] };
    if (++this.#members === 1)
      this.#stopWatching = this.#clock.watchPauses((began, ms) => this.#paused(began, ms));
    let left = false;
    const request = () => {
      this.#waiting.add(member, this.#clock.now(), waitingPart);
      if (!this.#running && this.#spent < this.#limits.turnMs) this.#start();
    };
    const sliceMs = () => this.#sliceMs;
    return {
      request,
      get sliceMs() {
        return sliceMs();
      },
      nextSlice: () =>
        new Promise((resolve) => {
          if (left) {
            this.#resumeLater([{ resume: resolve, request: workContext()?.request }]);
            return;
          }
          member.steps.push({ resume: resolve, request: workContext()?.request });
          request();
        }),
      charge: (ms) => {
        member.virtual += ms;
        this.#spent += ms;
        this.#endTurn();
      },
      leave: () => {
        if (left) return;
        left = true;
        if (--this.#members === 0) this.#stopWatching();
        this.#waiting.delete(member);
        this.#resumeLater(member.steps.splice(0));
      },
    };
  }

  /** Runs steps of members that have left. */
  #resumeLater(steps: readonly Step[]): void {
    this.#leftSteps.push(...steps);
    if (this.#resuming || steps.length === 0) return;
    this.#resuming = true;
    setImmediate(this.#resumeLeft);
  }

  /** Runs these steps one after the other for the time of a turn, and the others in the next turn. */
  readonly #resumeLeft = AsyncResource.bind(() => {
    const due = this.#clock.now() + this.#limits.turnMs;
    const next = () => {
      const step = this.#leftSteps.shift();
      if (step === undefined) {
        this.#resuming = false;
        return;
      }
      sliceWatch.note(step.request);
      step.resume();
      afterPromiseCallbacks(() => {
        if (this.#clock.now() < due) next();
        else setImmediate(this.#resumeLeft);
      });
    };
    next();
  });

  /** With many waiting clients slices are short, so that each of them is served about once in a turn of the event loop. */
  get #sliceMs(): number {
    const { sliceMs, turnMs } = this.#limits;
    return Math.max(shortestPart * sliceMs, Math.min(sliceMs, turnMs / (1 + this.#waiting.size)));
  }

  #run(): void {
    this.#running = true;
    const now = this.#clock.now();
    this.#usedIn(now);
    this.#endTurn();
    this.#next(now);
  }

  /** Runs the next slice, if there is one and time for it. */
  #next(now: number): void {
    const member = this.#spent < this.#limits.turnMs ? this.#waiting.take(now) : undefined;
    if (member === undefined) this.#running = false;
    else this.#slice(member, now);
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

  /** The garbage collector has stopped the thread: the client of that slice does not pay for the pause. */
  #paused(began: number, ms: number): void {
    const slice = this.#long.find((long) => long.began <= began && began < long.ended);
    if (slice === undefined) return;
    slice.used = Math.max(0, slice.used - ms);
    this.#charge(slice);
  }

  /** Sets the cost of a slice: its processor time. Other programs, which may have had the processor meanwhile, cost nothing. */
  #charge(slice: Slice): void {
    const { member, used, parts } = slice;
    const isLight = used <= lightSlices * this.#limits.sliceMs;
    const cost = isLight ? used * Math.min(1, parts * lightPart) : used;
    member.virtual += cost - slice.paid;
    slice.paid = cost;
  }

  /** The processor time since the end of the slice before. */
  #usedIn(now: number): number {
    const ms = now - this.#usedUntil;
    this.#usedUntil = now;
    if (ms <= shortPart * this.#limits.sliceMs) {
      this.#usedBefore += ms;
      return ms;
    }
    const usedNow = this.#clock.used();
    const used = Math.max(0, usedNow - this.#usedBefore);
    this.#usedBefore = usedNow;
    return used;
  }

  /** Runs one slice of a client, replies included, and then the next one. */
  #slice(member: Member, began: number): void {
    const { work, steps } = member;
    const { now } = this.#clock;
    const due = began + this.#sliceMs;
    const step = steps.shift();
    sliceWatch.note(step?.request);
    step?.resume();
    const waiting = work.serve(() => now() >= due);
    afterPromiseCallbacks(() => {
      work.settle();
      const parts = 1 + waiting + steps.length;
      const ended = now();
      const slice = { member, began, ended, used: this.#usedIn(ended), parts, paid: 0 };
      this.#charge(slice);
      sliceWatch.ended(slice);
      if (slice.used > this.#limits.sliceMs && this.#long.push(slice) > maxRemembered) this.#long.shift();
      if (parts > 1) this.#waiting.add(member, ended, parts * lightPart < 1 ? waitingPart : 0);
      this.#spent += ended - began;
      this.#next(ended);
    });
  }
}
