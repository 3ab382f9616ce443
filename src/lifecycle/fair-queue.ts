/** A client in a FairQueue. */
export interface FairMember {
  /** Virtual time at which its next turn starts. Grows by what each of its turns costs; initially 0. */
  virtual: number;
}

/**
 * Clients that wait for a turn, in the order of start-time fair queueing (Goyal, Vin, Cheng 1996). The next turn goes to the client
 * that has paid least. One that has rested comes first, and is ahead of the others by the credit at most: neither longer rest nor use
 * while nobody else waited counts. So a client waits at most until every other one has got as much as its own last turn has cost.
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

  /** No effect on a member that waits. */
  add(member: Member): void {
    if (this.#waiting.has(member)) return;
    member.virtual = Math.max(member.virtual, this.#now - this.#credit);
    this.#waiting.add(member);
  }

  delete(member: Member): void {
    this.#waiting.delete(member);
  }

  /** The member whose turn it is; of equals, the one that has waited longest. It stays in the queue. */
  get first(): Member | undefined {
    let first: Member | undefined;
    for (const member of this.#waiting)
      if (first === undefined || member.virtual < first.virtual) first = member;
    return first;
  }

  /** Removes `first`. */
  take(): Member | undefined {
    const { first } = this;
    if (first === undefined) return undefined;
    this.#now = Math.max(this.#now, first.virtual);
    this.#waiting.delete(first);
    return first;
  }
}
