import type { TurnFacts } from '../../agents/turn-facts.js';
import { RecentTurn } from './recent-turn.js';
import type { KeptTurn } from './turn-record.js';

/** The latest turns are references. Turns of a longer ring become text outside of the heap when they have grown older. */
const recentTurns = 256;
/** Turns of one such text. */
const blockTurns = 32;

/** Keeps the latest turns. */
export class TurnRing {
  readonly #size: number;
  readonly #withComponents: boolean;
  /** Oldest first. */
  readonly #recent: RecentTurn[] = [];
  /** JSON of older turns, a line for each, oldest first. */
  readonly #blocks: Buffer[] = [];
  #seq = 0;

  constructor(size: number, withComponents: boolean) {
    this.#size = size;
    this.#withComponents = withComponents;
  }

  /** The number of turns so far: `seq` of the latest. */
  get newest(): number {
    return this.#seq;
  }

  /** Returns the first `most` turns after `seq` that are still kept, oldest first. */
  after(seq: number, most = Number.POSITIVE_INFINITY): readonly KeptTurn[] {
    const turns: KeptTurn[] = [];
    const inBlocks = this.#blocks.length * blockTurns;
    const before = this.#seq - this.#recent.length - inBlocks;
    let at = Math.max(seq, this.#seq - this.#size) - before;
    while (at < inBlocks && turns.length < most) {
      const lines = String(this.#blocks[Math.floor(at / blockTurns)]).split('\n');
      const begin = at % blockTurns;
      for (const json of lines.slice(begin, begin + most - turns.length))
        turns.push({ seq: before + ++at, json });
    }
    const begin = Math.max(0, at - inBlocks);
    return [...turns, ...this.#recent.slice(begin, begin + most - turns.length)];
  }

  add(facts: TurnFacts): RecentTurn {
    const turn = new RecentTurn(++this.#seq, facts, this.#withComponents);
    this.#recent.push(turn);
    if (this.#size <= recentTurns) {
      if (this.#recent.length > this.#size) this.#recent.shift();
    } else if (this.#recent.length === recentTurns + blockTurns) {
      const older = this.#recent.splice(0, blockTurns).map(({ json }) => json);
      this.#blocks.push(Buffer.from(older.join('\n')));
      if ((this.#blocks.length - 1) * blockTurns + recentTurns >= this.#size) this.#blocks.shift();
    }
    return turn;
  }
}
