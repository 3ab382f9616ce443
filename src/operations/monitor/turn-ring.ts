import type { TurnFacts } from '../../agents/turn-facts.js';
import { RecentTurn } from './recent-turn.js';
import { Shapes } from './shape.js';
import { blockTurns, TurnBlock } from './turn-block.js';
import type { KeptTurn } from './turn-record.js';

/** The latest turns are references. A turn of a longer ring becomes numbers when it has grown older. */
const recentTurns = 256;
/** Turns that are put into their blocks together: each for itself finds little of that code in the processor's caches. */
const gathered = 32;
/** Places of all shapes of turns together. */
const maxShapeTokens = 20_000;

/** Keeps the latest turns. */
export class TurnRing {
  readonly #size: number;
  readonly #withComponents: boolean;
  readonly #shapes = new Shapes(maxShapeTokens);
  readonly #recent: RecentTurn[] = [];
  readonly #recentCount: number;
  readonly #blocks: TurnBlock[] = [];
  /** One more than needed: the oldest turns share a block with the newest ones. */
  readonly #blockCount: number;
  #seq = 0;
  /** The latest turn in a block. */
  #stored = 0;

  constructor(size: number, withComponents: boolean) {
    this.#size = size;
    this.#withComponents = withComponents;
    const isShort = size <= recentTurns;
    this.#recentCount = isShort ? Math.max(1, size) : recentTurns + gathered;
    this.#blockCount = isShort ? 0 : Math.ceil(size / blockTurns) + 1;
  }

  /** The number of turns so far: `seq` of the latest. */
  get newest(): number {
    return this.#seq;
  }

  /** Returns the first `most` turns after `seq` that are still kept, oldest first. */
  after(seq: number, most = Number.POSITIVE_INFINITY): readonly KeptTurn[] {
    const turns: KeptTurn[] = [];
    let next = Math.max(seq, this.#seq - this.#size);
    while (next < this.#seq && turns.length < most) turns.push(this.#get(++next));
    return turns;
  }

  add(facts: TurnFacts): RecentTurn {
    if (this.#blockCount > 0 && this.#seq - this.#stored === this.#recentCount) this.#store();
    const turn = new RecentTurn(++this.#seq, facts, this.#withComponents);
    this.#recent[turn.seq % this.#recentCount] = turn;
    return turn;
  }

  /** Puts the oldest of the recent turns into their blocks. */
  #store(): void {
    for (let n = 0; n < gathered; n++) {
      const turn = this.#recentTurn(++this.#stored);
      const place = placeOf(turn.seq);
      if (place === 0) this.#begin(turn.seq);
      this.#block(turn.seq).set(place, turn);
    }
  }

  #begin(seq: number): void {
    const at = blockOf(seq) % this.#blockCount;
    const block = this.#blocks[at];
    if (block === undefined) this.#blocks[at] = new TurnBlock(this.#shapes);
    else block.clear();
  }

  #block(seq: number): TurnBlock {
    return this.#blocks[blockOf(seq) % this.#blockCount] as TurnBlock;
  }

  #recentTurn(seq: number): RecentTurn {
    return this.#recent[seq % this.#recentCount] as RecentTurn;
  }

  #get(seq: number): KeptTurn {
    if (seq > this.#stored) return this.#recentTurn(seq);
    return { seq, json: this.#block(seq).json(placeOf(seq), seq) };
  }
}

const blockOf = (seq: number) => Math.floor((seq - 1) / blockTurns);
const placeOf = (seq: number) => (seq - 1) % blockTurns;
