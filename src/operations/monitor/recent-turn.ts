import { textPrefix } from '../../agents/text-prefix.js';
import type { TurnFacts, TurnFailure } from '../../agents/turn-facts.js';
import { errorTable } from '../../protocol/errors.js';
import type { FailureRecord, KeptTurn, TurnRecord } from './turn-record.js';

/** Longest text in the list of turns. */
const listedText = 200;

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
  #record: Omit<TurnRecord, 'code' | 'engine' | 'failure'> & { readonly code: number | undefined };
  /** Characters of the kept components, with those of empty values. */
  characters = 0;
  #failure: FailureRecord | undefined;
  #engine: TurnFacts['engine'] | undefined;

  /** `withComponents`: whether texts may be shown. */
  constructor(seq: number, facts: TurnFacts, withComponents: boolean) {
    const { status, queuedMs, durationMs } = facts;
    this.seq = seq;
    this.rank = status === 'failed' ? Number.POSITIVE_INFINITY : queuedMs + durationMs;
    this.#engine = facts.engine;
    this.#failure = facts.failure && failureRecord(facts.code, facts.failure, withComponents);
    const kept = withComponents ? keptTexts(facts.components) : undefined;
    this.characters = kept?.characters ?? 0;
    this.#record = {
      ...{ seq, turn: facts.turn, agent: facts.agent, client: facts.client },
      at: Date.now(),
      ...(facts.speech && { speech: facts.speech }),
      queuedMs,
      durationMs,
      status,
      code: facts.code,
      nodes: facts.nodes,
      skipped: facts.skipped,
      hits: facts.hits,
      citations: facts.citations,
      ...(withComponents && { message: textPrefix(facts.message, listedText) }),
      messageLength: facts.message.length,
      replyLength: facts.reply.length,
      ...kept?.texts,
    };
  }

  get json(): string {
    return JSON.stringify(this.content);
  }

  /** What `json` writes. */
  get content(): object {
    return { ...this.#record, failure: this.#failure, engine: this.#engine?.() };
  }

  /** Removes what was found: the ring has no room for it. */
  dropComponents(): void {
    this.#record = { ...this.#record, components: [], shortened: true };
    this.characters = 0;
  }

  /** Removes what was said and found. */
  dropTexts(): void {
    const { components: _, message: __, ...others } = this.#record;
    this.#record = others;
    this.characters = 0;
    if (this.#failure !== undefined) this.#failure = withoutMessage(this.#failure);
    this.#engine = undefined;
  }
}

/** Does the same for a turn's JSON. */
export function withoutTexts(json: string): string {
  const { components: _, engine: __, message: ___, failure, ...others } = JSON.parse(json) as TurnRecord;
  return JSON.stringify({ ...others, ...(failure && { failure: withoutMessage(failure) }) });
}

/** The message may quote texts. */
function withoutMessage({ message: _, ...others }: FailureRecord): FailureRecord {
  return others;
}

/** `withMessage`: whether texts may be shown. */
function failureRecord(
  code: number | undefined,
  { name, message, path, node }: TurnFailure,
  withMessage: boolean,
): FailureRecord {
  const row = (errorTable as Readonly<Record<number, { meaning: string; remedy: string } | undefined>>)[
    code ?? 0
  ];
  return {
    ...{ name, meaning: row?.meaning ?? '', remedy: row?.remedy ?? '' },
    ...(path !== undefined && { path: textPrefix(path, listedText) }),
    ...(node && { node }),
    ...(withMessage && { message: textPrefix(message, longestText) }),
  };
}

/** Copies components for a record: a turn's record has a bounded size, whatever its components hold. */
function keptTexts(components: TurnFacts['components']): { texts: KeptTexts; characters: number } {
  const shortener = new Shortener();
  const kept = components.slice(0, maxComponents).map((component) => shortener.copy(component, 0) as object);
  const shortened = components.length > maxComponents || shortener.shortened;
  const texts = { components: kept, ...(shortened && { shortened }) } as KeptTexts;
  return { texts, characters: maxCharacters - shortener.left };
}

/** Copies values, with shortened texts, until `maxCharacters` are copied. */
class Shortener {
  shortened = false;
  left = maxCharacters;

  copy(value: unknown, depth: number): unknown {
    this.left -= valueCharacters;
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > maxDepth || this.left <= 0) return this.#cut(Array.isArray(value) ? [] : {});
    if (Array.isArray(value)) {
      const items = value.length > maxItems ? this.#cut(value.slice(0, maxItems)) : value;
      return items.map((item) => this.copy(item, depth + 1));
    }
    const fields = Object.entries(value);
    const some = fields.length > maxItems ? this.#cut(fields.slice(0, maxItems)) : fields;
    return Object.fromEntries(some.map(([key, field]) => [this.#text(key), this.copy(field, depth + 1)]));
  }

  #text(text: string): string {
    const most = Math.min(longestText, Math.max(0, this.left));
    this.left -= Math.min(text.length, most);
    return text.length <= most ? text : this.#cut(textPrefix(text, most));
  }

  #cut<T>(value: T): T {
    this.shortened = true;
    return value;
  }
}
