import { textPrefix } from '../../agents/text-prefix.js';
import type { TurnFacts } from '../../agents/turn-facts.js';
import type { KeptTurn, TurnRecord } from './turn-record.js';

/** Longest text of a kept component and most components of a turn. */
const longestText = 4096;
const maxComponents = 100;

/** Bounds of all components of a turn together: characters, with those of an empty value, items of a list, depth. */
const maxCharacters = 524_288;
const valueCharacters = 8;
const maxItems = 256;
const maxDepth = 8;

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

/** Copies components for a record: a turn's record has a bounded size, whatever its components hold. */
function keptTexts(components: TurnFacts['components']): KeptTexts {
  const shortener = new Shortener();
  const kept = components.slice(0, maxComponents).map((component) => shortener.copy(component, 0) as object);
  const shortened = components.length > maxComponents || shortener.shortened;
  return { components: kept, ...(shortened && { shortened }) } as KeptTexts;
}

/** Copies values, with shortened texts, until `maxCharacters` are copied. */
class Shortener {
  shortened = false;
  #left = maxCharacters;

  copy(value: unknown, depth: number): unknown {
    this.#left -= valueCharacters;
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > maxDepth || this.#left <= 0) return this.#cut(Array.isArray(value) ? [] : {});
    if (Array.isArray(value)) {
      const items = value.length > maxItems ? this.#cut(value.slice(0, maxItems)) : value;
      return items.map((item) => this.copy(item, depth + 1));
    }
    const fields = Object.entries(value);
    const some = fields.length > maxItems ? this.#cut(fields.slice(0, maxItems)) : fields;
    return Object.fromEntries(some.map(([key, field]) => [this.#text(key), this.copy(field, depth + 1)]));
  }

  #text(text: string): string {
    const most = Math.min(longestText, Math.max(0, this.#left));
    this.#left -= Math.min(text.length, most);
    return text.length <= most ? text : this.#cut(textPrefix(text, most));
  }

  #cut<T>(value: T): T {
    this.shortened = true;
    return value;
  }
}
