import { textPrefix } from '../agents/text-prefix.js';
import type { TurnFacts } from '../agents/turn-facts.js';
import { Shapes } from './shape.js';
import { blockTurns, type NewTurn, TurnBlock } from './turn-block.js';
import type { TurnRecord } from './turn-record.js';

/** Longest text of a kept component and most components of a turn. */
const longestText = 4096;
const mostComponents = 100;

/** Turns that worst() chooses among, at least. */
export const leastKept = 1024;
/** Turns that are put into their blocks together: each for itself finds little of that code in the processor's caches. */
const gathered = 32;
/** Places of all shapes of turns together. */
const mostShapeTokens = 20_000;

/** A turn of the ring. */
export interface KeptTurn {
  readonly seq: number;
  /** A TurnRecord: turns are kept to be sent. */
  readonly json: string;
}

/** Keeps the latest turns. */
export class TurnRing {
  readonly #size: number;
  readonly #withComponents: boolean;
  readonly #shapes = new Shapes(mostShapeTokens);
  /** One more than needed: the oldest turns share a block with the newest ones. */
  readonly #blockCount: number;
  readonly #blocks: TurnBlock[] = [];
  /** The newest turns, which are not in a block yet. */
  readonly #new: NewTurn[] = [];
  /** How much each of the latest turns deserves to be looked at, by `seq`: failed ones most, then by their time. */
  readonly #ranks = new Float64Array(leastKept);
  #seq = 0;

  constructor(size: number, withComponents: boolean) {
    this.#size = size;
    this.#withComponents = withComponents;
    this.#blockCount = Math.ceil(Math.max(size, leastKept) / blockTurns) + 1;
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

  /** Returns the turns after `seq`, oldest first; of more than `most` the failed and the slowest ones. */
  worst(seq: number, most: number): readonly KeptTurn[] {
    const from = Math.max(seq, this.#seq - leastKept);
    const seqs = Array.from({ length: this.#seq - from }, (_, n) => this.#seq - n);
    const rank = (one: number) => this.#ranks[one % leastKept] as number;
    return seqs
      .sort((a, b) => (rank(a) === rank(b) ? b - a : rank(b) - rank(a)))
      .slice(0, most)
      .sort((a, b) => a - b)
      .map((one) => this.#get(one));
  }

  add(facts: TurnFacts): void {
    const { turn, status, code, queuedMs, durationMs, nodes, skipped, hits, citations } = facts;
    const numbers = {
      at: Date.now(),
      queuedMs,
      durationMs,
      status,
      code,
      nodes,
      engine: facts.engine(),
      skipped,
      hits,
      citations,
      messageLength: facts.message.length,
      replyLength: facts.reply.length,
    };
    const texts = this.#withComponents ? keptComponents(facts.components) : undefined;
    const seq = ++this.#seq;
    this.#ranks[seq % leastKept] = status === 'failed' ? Number.POSITIVE_INFINITY : queuedMs + durationMs;
    this.#new.push({ seq, turn, numbers, texts });
    if (this.#new.length === gathered) this.#store();
  }

  /** Puts the newest turns into their blocks. */
  #store(): void {
    for (const turn of this.#new) {
      const place = placeOf(turn.seq);
      if (place === 0) this.#begin(turn.seq);
      this.#block(turn.seq).set(place, turn);
    }
    this.#new.length = 0;
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

  #get(seq: number): KeptTurn {
    this.#store();
    return { seq, json: this.#block(seq).json(placeOf(seq), seq) };
  }
}

const blockOf = (seq: number) => Math.floor((seq - 1) / blockTurns);
const placeOf = (seq: number) => (seq - 1) % blockTurns;

function keptComponents(components: TurnFacts['components']): Pick<TurnRecord, 'components' | 'shortened'> {
  let shortened = components.length > mostComponents;
  const kept = components.slice(0, mostComponents).map((component) =>
    Object.fromEntries(
      Object.entries(component).map(([key, value]) => {
        if (typeof value !== 'string' || value.length <= longestText) return [key, value];
        shortened = true;
        return [key, textPrefix(value, longestText)];
      }),
    ),
  );
  return { components: kept, ...(shortened && { shortened }) };
}
