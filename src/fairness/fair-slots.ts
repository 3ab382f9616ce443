import { onAbort } from '../../lib/basics.js';
import { nextSlice } from '../base/waiting/next-slice.js';
import { type FairMember, FairQueue } from './fair-queue.js';

interface Member extends FairMember {
  /** In the order in which they asked. */
  readonly waiting: Set<() => void>;
  /** The longest time in ms that its work has held a slot lately. */
  longest: number;
}

/** A client's way to the slots. */
export interface SlotShare {
  /**
   * Resolves when the work may begin, with a function to call when it has ended. Work that has to wait begins in a slice of its
   * client. @throws the signal's reason
   */
  enter(signal: AbortSignal): Promise<() => void>;
}

/**
 * Lets as much work run at once as there are threads for it. Slots are shared fairly by the time that work holds them: a client that
 * asks for much waits for itself, and others do not wait for it. Work is not interrupted, so `reserved` further slots are only
 * for clients whose work was short lately: they do not wait for the end of long work.
 */
export class FairSlots {
  /** Slots that are free, those reserved included. */
  #free: number;
  readonly #reserved: number;
  readonly #waiting = new FairQueue<Member>(expectedMs);
  /** Time in ms that work holds a slot: the mean over the latest second of held time. */
  #usual = 0;

  constructor(slots: number, reserved = 0) {
    this.#free = slots + reserved;
    this.#reserved = reserved;
  }

  /** Work that waits for a slot. */
  get waiting(): number {
    let sum = 0;
    for (const { waiting } of this.#waiting) sum += waiting.size;
    return sum;
  }

  join(): SlotShare {
    const member: Member = { virtual: 0, waiting: new Set(), longest: Math.max(newcomerMs, this.#usual) };
    return {
      enter: async (signal) => {
        const slot = this.#enter(member, signal);
        const waits = member.waiting.size > 0;
        const leave = await slot;
        // A slot is often given back while a result is taken. If the next work began at once, results and beginnings
        // could follow each other without end, outside of any client's slices.
        if (waits) await nextSlice();
        return leave;
      },
    };
  }

  #enter(member: Member, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stopListening = onAbort(signal, () => {
        member.waiting.delete(begin);
        if (member.waiting.size === 0) this.#waiting.delete(member);
        reject(signal.reason);
      });
      const begin = () => {
        stopListening();
        resolve(this.#slot(member));
      };
      member.waiting.add(begin);
      this.#waiting.add(member);
      this.#fill();
    });
  }

  #fill(): void {
    while (this.#free > 0) {
      const member = this.#waiting.take(0, this.#free > this.#reserved ? undefined : this.#isShort);
      if (member === undefined) return;
      const [begin] = member.waiting as Set<() => void>;
      member.waiting.delete(begin as () => void);
      this.#free--;
      begin?.();
      if (member.waiting.size > 0) this.#waiting.add(member);
    }
  }

  readonly #isShort = ({ longest }: Member): boolean => longest <= Math.max(shortMs, shortPart * this.#usual);

  /** A slot is charged in advance: a client that just got one is not the next again. */
  #slot(member: Member): () => void {
    const began = performance.now();
    member.virtual += expectedMs;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const ms = performance.now() - began;
      // A client whose earlier work took as long pays for it.
      const most = Math.max(maxCharged * Math.max(shortMs, this.#usual), member.longest);
      member.virtual += Math.min(ms, most) - expectedMs;
      member.longest = Math.max(ms, forgetting * member.longest);
      this.#usual += Math.min(1, ms / rememberedMs) * (ms - this.#usual);
      this.#free++;
      this.#fill();
    };
  }
}

/** Time that a piece of work is charged before it has ended, in ms. */
const expectedMs = 1;

/** Work that holds its slot no longer is short, in ms. */
const shortMs = 20;

/** So is work that holds it for this part of the usual time: on a busy machine all work takes longer. */
const shortPart = 1 / 4;

/**
 * The most that work is charged, in usual times, unless the client's earlier work took longer: other programs may have stopped its
 * thread. Beside eight clients that always ask, one whose work was stopped for a second waited for eight.
 */
const maxCharged = 4;

/** Held time in ms over which the usual time is averaged. */
const rememberedMs = 1000;

/**
 * Factor by which the longest time decays with each further piece of work: a long piece is forgotten after about twenty short
 * ones.
 */
const forgetting = 0.9;

/** Assumed time of a new client, so that reconnecting gives no reserved slot for long work. */
const newcomerMs = 2 * shortMs;
