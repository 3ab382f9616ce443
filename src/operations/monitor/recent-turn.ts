import { textPrefix } from '../../agents/text-prefix.js';
import type { TurnFacts } from '../../agents/turn-facts.js';
import type { KeptTurn, TurnRecord } from './turn-record.js';

/** Longest text of a kept component and most components of a turn. */
const longestText = 4096;
const maxComponents = 100;

type KeptTexts = Pick<TurnRecord, 'components' | 'shortened'>;

/** A turn that has ended a moment ago: references to data that exist anyway. Its record is made when it is asked for. */
export class RecentTurn implements KeptTurn {
  readonly seq: number;
  /** How much it deserves to be looked at: failed turns most, then slow ones. */
  readonly rank: number;
  readonly #record: Omit<TurnRecord, 'code' | 'engine'> & { readonly code: number | undefined };
  readonly #engine: TurnFacts['engine'];

  /** `withComponents`: whether texts may be shown. */
  constructor(seq: number, facts: TurnFacts, withComponents: boolean) {
    const { status, queuedMs, durationMs } = facts;
    this.seq = seq;
    this.rank = status === 'failed' ? Number.POSITIVE_INFINITY : queuedMs + durationMs;
    this.#engine = facts.engine;
    this.#record = {
      seq,
      turn: facts.turn,
      at: Date.now(),
      queuedMs,
      durationMs,
      status,
      code: facts.code,
      nodes: facts.nodes,
      skipped: facts.skipped,
      hits: facts.hits,
      citations: facts.citations,
      messageLength: facts.message.length,
      replyLength: facts.reply.length,
      ...(withComponents && keptTexts(facts.components)),
    };
  }

  get json(): string {
    return JSON.stringify({ ...this.#record, engine: this.#engine() });
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
