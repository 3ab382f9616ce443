/** A client in a FairQueue. */
export interface FairMember {
  /** Virtual time at which its next turn starts. Grows by the cost of each of its turns; initially 0. */
  virtual: number;
  /** Set by the queue while it waits. */
  since?: number;
  interest?: number;
}

const everybody = () => true;

/**
 * Clients that wait for a turn, in the order of start-time fair queueing (Goyal, Vin, Cheng 1996). The next turn goes to the client
 * that has paid least. One that has been idle comes first, and is ahead of the others by the credit at most: neither longer idleness
 * nor use while no other client waited counts. So a client waits at most until every other one has used as much as its own last turn.
 *
 * Among hundreds of clients that is long. Where `interest` is given, waiting counts as a payment of `interest * time`.
 */
export class FairQueue<Member extends FairMember> {
  readonly #credit: number;
  readonly #waiting = new Set<Member>();
  /** Virtual time at which the latest turn has started. */
  #now = 0;

  constructor(credit: number) {
    this.#credit = credit;
  }

  get size(): number {
    return this.#waiting.size;
  }

  [Symbol.iterator](): Iterator<Member> {
    return this.#waiting.values();
  }

  /** No effect on a member that waits. `time`: since when it waits, on the clock of take(). */
  add(member: Member, time = 0, interest = 0): void {
    if (this.#waiting.has(member)) return;
    member.virtual = Math.max(member.virtual, this.#now - this.#credit);
    member.since = time;
    member.interest = interest;
    this.#waiting.add(member);
  }

  delete(member: Member): void {
    this.#waiting.delete(member);
  }

  /** Removes the member whose turn it is, among members that `may` run; among equals, the longest waiting one. */
  take(time = 0, may: (member: Member) => boolean = everybody): Member | undefined {
    let first: Member | undefined;
    let least = Number.POSITIVE_INFINITY;
    let start = Number.POSITIVE_INFINITY;
    for (const member of this.#waiting) {
      const { virtual, since = 0, interest = 0 } = member;
      const owed = virtual - interest * (time - since);
      if (virtual < start) start = virtual;
      if (owed >= least || !may(member)) continue;
      least = owed;
      first = member;
    }
    if (first === undefined) return undefined;
    // Not the time of a member that comes first because it has waited: the others would lose their unused shares.
    this.#now = Math.max(this.#now, start);
    first.virtual = least;
    this.#waiting.delete(first);
    return first;
  }
}
