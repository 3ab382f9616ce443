import type { ForgottenTexts } from '../../agents/forgotten-texts.js';
import type { TurnFacts } from '../../agents/turn-facts.js';
import { RecentTurn, withoutTexts } from './recent-turn.js';
import type { KeptTurn } from './turn-record.js';

/** The latest turns are references. Turns of a longer ring become text outside of the heap when they have grown older. */
const recentTurns = 256;
/** Turns of one such text. */
const blockTurns = 32;

/** Most characters of components that the turns together keep, in the heap, and most bytes of those that have grown older. */
const maxCharacters = 4 * 1024 * 1024;
const maxBlockBytes = 64 * 1024 * 1024;

/** Keeps the latest turns; of those before, what was found is dropped first. */
export class TurnRing {
  readonly #size: number;
  readonly #withComponents: boolean;
  /** Oldest first. */
  readonly #recent: RecentTurn[] = [];
  /** JSON of older turns, a line for each, oldest first. */
  readonly #blocks: Buffer[] = [];
  /** Blocks from the oldest on whose texts were dropped. */
  #withoutTexts = 0;
  /** Characters of the components of recent turns. */
  #characters = 0;
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

  /** Removes what was said and found in turns that quote one of these texts; their numbers and times stay. */
  async forget(texts: ForgottenTexts): Promise<void> {
    for (const turn of [...this.#recent]) {
      if (!(await texts.quotedByJsonOf(turn.content))) continue;
      // It may be in a block by now.
      if (this.#recent.includes(turn)) this.#characters -= turn.characters;
      turn.dropTexts();
    }
    for (const block of [...this.#blocks]) {
      const kept: string[] = [];
      for (const line of String(block).split('\n'))
        kept.push((await texts.quotedByJsonOf(JSON.parse(line))) ? withoutTexts(line) : line);
      const index = this.#blocks.indexOf(block);
      if (index < 0) continue;
      block.fill(0);
      this.#blocks[index] = Buffer.from(kept.join('\n'));
    }
  }

  add(facts: TurnFacts): RecentTurn {
    const turn = new RecentTurn(++this.#seq, facts, this.#withComponents);
    this.#recent.push(turn);
    this.#makeRoom(turn.characters);
    if (this.#size <= recentTurns) {
      if (this.#recent.length > this.#size) this.#characters -= this.#recent.shift()?.characters ?? 0;
    } else if (this.#recent.length === recentTurns + blockTurns) {
      const older = this.#recent.splice(0, blockTurns);
      for (const { characters } of older) this.#characters -= characters;
      this.#blocks.push(Buffer.from(older.map(({ json }) => json).join('\n')));
      this.#shrinkBlocks();
      if ((this.#blocks.length - 1) * blockTurns + recentTurns >= this.#size) {
        this.#blocks.shift();
        this.#withoutTexts = Math.max(0, this.#withoutTexts - 1);
      }
    }
    return turn;
  }

  /** Drops what the oldest turns found, until all have at most `maxCharacters`. */
  #makeRoom(more: number): void {
    this.#characters += more;
    for (const turn of this.#recent) {
      if (this.#characters <= maxCharacters) return;
      this.#characters -= turn.characters;
      if (turn.characters > 0) turn.dropComponents();
    }
  }

  /** Drops the texts of the oldest blocks, until all have at most `maxBlockBytes`. */
  #shrinkBlocks(): void {
    let bytes = this.#blocks.reduce((sum, { length }) => sum + length, 0);
    for (; bytes > maxBlockBytes && this.#withoutTexts < this.#blocks.length; this.#withoutTexts++) {
      const block = this.#blocks[this.#withoutTexts] as Buffer;
      const without = Buffer.from(String(block).split('\n').map(withoutTexts).join('\n'));
      bytes += without.length - block.length;
      this.#blocks[this.#withoutTexts] = without;
    }
  }
}
