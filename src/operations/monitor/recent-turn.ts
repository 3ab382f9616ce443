import { textPrefix } from '../../agents/text-prefix.js';
import type { TurnFacts } from '../../agents/turn-facts.js';
import type { KeptTexts, NewTurn } from './turn-block.js';
import type { KeptTurn } from './turn-record.js';

/** Longest text of a kept component and most components of a turn. */
const longestText = 4096;
const maxComponents = 100;

/** A turn that has ended a moment ago: references to data that exist anyway. Its record is made when it is asked for. */
export class RecentTurn implements KeptTurn, NewTurn {
  readonly seq: number;
  readonly turn: string;
  /** How much it deserves to be looked at: failed turns most, then slow ones. */
  readonly rank: number;
  readonly texts: KeptTexts | undefined;
  readonly #numbers: Omit<NewTurn['numbers'], 'engine'> & Pick<TurnFacts, 'engine'>;

  /** `withComponents`: whether texts may be shown. */
  constructor(seq: number, facts: TurnFacts, withComponents: boolean) {
    const { status, queuedMs, durationMs } = facts;
    this.seq = seq;
    this.turn = facts.turn;
    this.rank = status === 'failed' ? Number.POSITIVE_INFINITY : queuedMs + durationMs;
    this.texts = withComponents ? keptTexts(facts.components) : undefined;
    this.#numbers = {
      at: Date.now(),
      queuedMs,
      durationMs,
      status,
      code: facts.code,
      nodes: facts.nodes,
      engine: facts.engine,
      skipped: facts.skipped,
      hits: facts.hits,
      citations: facts.citations,
      messageLength: facts.message.length,
      replyLength: facts.reply.length,
    };
  }

  get numbers(): NewTurn['numbers'] {
    return { ...this.#numbers, engine: this.#numbers.engine() };
  }

  get json(): string {
    return JSON.stringify({ seq: this.seq, turn: this.turn, ...this.numbers, ...this.texts });
  }
}

function keptTexts(components: TurnFacts['components']): KeptTexts {
  let shortened = components.length > maxComponents;
  const kept = components.slice(0, maxComponents).map((component) =>
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
