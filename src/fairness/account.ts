import { onAbort } from '../../lib/basics.js';
import { nextSlice } from '../base/waiting/next-slice.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import { type Away, type OtherMachine, withWorkContext, workContext } from '../base/waiting/work-context.js';
import type { Bytes } from './bytes.js';
import type { ClientMemory, RequestMemory } from './client-memory.js';
import { FairSlots, type SlotShare } from './fair-slots.js';
import type { LoopScheduler, LoopShare, LoopWork } from './loop-scheduler.js';

/** Threads of the server that compute for clients. */
export interface Workers {
  /** Searches, embedding of queries, tokens of prompts. */
  readonly search: FairSlots;
  /** Inline storages. */
  readonly build: FairSlots;
  /** The calls that another machine takes at a time. */
  readonly others: WeakMap<OtherMachine, FairSlots>;
}

export type Worker = Exclude<keyof Workers, 'others'>;

export interface AccountOptions {
  readonly memory: ClientMemory;
  readonly loop: LoopScheduler;
  readonly workers: Workers;
  /** Results that may be made at once. */
  readonly producers: number;
}

/** The client's side of its account. */
export interface AccountClient extends LoopWork {
  /** A slice of short frames. Returns as LoopWork.serve(). */
  serveShort(): number;
  /** Whether the client does not keep up with its replies. */
  lags(): boolean;
  /** Calls back when no long reply waits to be written. */
  whenWritten(callback: () => void): void;
}

/** Permission to make results for a client. */
export interface Sending {
  /** Waits for memory for results and counts it. @throws ClientMemoryExceeded, ServerMemoryExceeded; the signal's reason */
  reserve(bytes: Bytes, signal: AbortSignal): Promise<void>;
  /** The results are sent: others may be made, and the memory is given back once they are written. Idempotent. */
  end(): void;
}

/**
 * What one client may use: bytes (`memory`), time of the event loop (`loop`) and threads. Its requests ask at three points:
 * begin(), send() before they make results, and compute(). docs/internals/admission.md explains when they wait.
 */
export class Account {
  readonly memory: ClientMemory;
  /** Slices for parsing long frames, serving requests and writing long replies. */
  readonly loop: LoopShare;
  /** Slices for taking short frames and for answering pings: these do not wait for the client's other work. */
  readonly shortLoop: LoopShare;
  readonly #workers: Readonly<Record<Worker, SlotShare>>;
  readonly #others: WeakMap<OtherMachine, FairSlots>;
  readonly #otherShares = new WeakMap<OtherMachine, SlotShare>();
  readonly #producers: number;
  #producing = 0;
  /** Let results begin, in the order in which they asked. */
  readonly #waiting = new Set<() => void>();
  /** Wake those who wait for the client to read. */
  readonly #reading = new Set<() => void>();
  readonly #client: AccountClient;

  constructor({ memory, loop, workers, producers }: AccountOptions, client: AccountClient) {
    this.memory = memory;
    this.loop = loop.join(client);
    this.shortLoop = loop.join({ serve: () => client.serveShort(), settle: () => client.settle() });
    this.#workers = { search: workers.search.join(), build: workers.build.join() };
    this.#others = workers.others;
    this.#producers = producers;
    this.#client = client;
  }

  /** Counts the memory of the request in a frame. Returns undefined if it does not fit now. */
  begin(payloadBytes: number): RequestMemory | undefined {
    return this.memory.begin(payloadBytes);
  }

  /** Waits for a thread. Call the result when the work has ended. @throws the signal's reason */
  enter(worker: Worker, signal: AbortSignal): Promise<() => void> {
    return this.#workers[worker].enter(signal);
  }

  /** Runs work that another machine computes, in the client's turn there. @throws the signal's reason */
  readonly away: Away = async (machine, signal, work) => {
    const slots = this.#others.get(machine) ?? new FairSlots(machine.parallel);
    this.#others.set(machine, slots);
    const share = this.#otherShares.get(machine) ?? slots.join();
    this.#otherShares.set(machine, share);
    const leave = await share.enter(signal);
    try {
      return await work();
    } finally {
      leave();
    }
  };

  /**
   * Runs work on a thread until it waits for a slice: the rest needs no thread. Nor does what another machine computes in between.
   * @throws the signal's reason
   */
  async compute<T>(
    worker: Worker,
    signal: AbortSignal,
    work: (nextSlice: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    const thread = new HeldThread(this, worker, signal);
    await thread.enter();
    try {
      return await withWorkContext({ ...workContext(), away: thread.away }, () =>
        work(() => {
          thread.leave();
          return nextSlice();
        }),
      );
    } finally {
      thread.leave();
    }
  }

  /** Waits until the client reads its replies and fewer than `producers` results are being made. @throws the signal's reason */
  send(signal: AbortSignal): Promise<Sending> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const begin = () => {
        stopListening();
        resolve(this.#sending());
      };
      const stopListening = onAbort(signal, () => {
        this.#waiting.delete(begin);
        reject(signal.reason);
      });
      this.#waiting.add(begin);
      this.caughtUp();
    });
  }

  /** Waits until the client reads what it was sent. @throws the signal's reason */
  async read(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.#client.lags()) {
      let wake = () => {};
      const caughtUp = new Promise<void>((resolve) => {
        wake = resolve;
      });
      this.#reading.add(wake);
      await untilAborted(caughtUp, signal).finally(() => this.#reading.delete(wake));
    }
  }

  /** The client may have caught up: lets waiting results begin. */
  caughtUp(): void {
    if (!this.#client.lags()) for (const wake of this.#reading) wake();
    for (const begin of this.#waiting) {
      if (this.#producing >= this.#producers || this.#client.lags()) return;
      this.#waiting.delete(begin);
      this.#producing++;
      begin();
    }
  }

  #sending(): Sending {
    const reserved: (() => void)[] = [];
    let hasEnded = false;
    return {
      reserve: async (bytes, signal) => {
        const what = 'the results may be too large: ask for fewer hits (top_k)';
        reserved.push(await this.memory.reserve('results', bytes, what, signal));
      },
      end: () => {
        if (hasEnded) return;
        hasEnded = true;
        for (const giveBack of reserved) this.#client.whenWritten(giveBack);
        this.#producing--;
        this.caughtUp();
      },
    };
  }

  /** The client has gone, and its sessions have ended. */
  close(): void {
    this.loop.leave();
    this.shortLoop.leave();
  }
}

/**
 * A client's thread, given back while another machine computes. Work contexts live as long as anything that was begun in them, so
 * this must not hold the work, nor the request behind it: its texts may be forgotten.
 */
class HeldThread {
  readonly #account: Account;
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  #leave = () => {};

  constructor(account: Account, worker: Worker, signal: AbortSignal) {
    this.#account = account;
    this.#worker = worker;
    this.#signal = signal;
  }

  /** @throws the signal's reason */
  async enter(): Promise<void> {
    this.#leave = await this.#account.enter(this.#worker, this.#signal);
  }

  leave(): void {
    this.#leave();
  }

  readonly away: Away = async (machine, signal, work) => {
    this.leave();
    const made = await this.#account.away(machine, signal, work);
    await this.enter();
    return made;
  };
}
