import type { Filter, FilterExpression, FusionMethod } from '../../lib/index.js';
import { type SearchPlaces, searchError } from '../failure/wire-errors.js';
import type { Pin, SearchableStorage, SearchOutcome } from '../knowledge/index.js';
import { lexicalOptions } from '../lexical/fields.js';
import type { SlotShare } from '../lifecycle/fair-slots.js';
import { loopTurn, mapInTurns } from '../lifecycle/loop-turn.js';
import type { Bytes } from '../limits/bytes.js';
import { hitsBytes } from '../limits/estimates.js';
import type { Hit, Retrieval } from '../protocol/retrieval.js';
import { checkFilterSize, checkQueryLength } from './search-limits.js';
import { textBytes } from './text-bytes.js';
import { wireHit } from './wire.js';

/** The outcome of a search, with hits in protocol form. */
export interface WireOutcome extends Omit<SearchOutcome, 'hits'> {
  hits: Hit[];
  /** Whether the request wants to know that the storage's files have changed, and they have. */
  stale: boolean;
}

/** A client's search in one storage, checked before it runs. */
export class StorageSearch {
  readonly #pin: Pin<SearchableStorage>;
  readonly #retrieval: Omit<Retrieval, 'filter'>;
  readonly #places: SearchPlaces;
  readonly #filter: Filter | undefined;
  readonly #fusion: FusionMethod | undefined;
  readonly #threads: SlotShare;

  /**
   * Uses the pin, which the caller keeps, and the client's share of the search threads.
   * @throws `places.invalid` for the filter and the fusion
   */
  constructor(pin: Pin<SearchableStorage>, retrieval: Retrieval, places: SearchPlaces, threads: SlotShare) {
    const { filter, ...rest } = retrieval;
    const { mode, rrf, scores } = rest;
    const lexical = lexicalOptions(rest.lexical);
    this.#fusion = wireFusion(rest, pin.value.fusion);
    checkFilterSize(filter, places.filter, places.invalid);
    try {
      this.#filter = pin.value.check({
        mode,
        fusion: this.#fusion,
        rrf,
        scores,
        lexical,
        filter: filter as FilterExpression | undefined,
      });
    } catch (error) {
      throw searchError(error, places);
    }
    this.#pin = pin;
    // Keep only the compiled filter: its JSON may be large.
    this.#retrieval = rest;
    this.#places = places;
    this.#threads = threads;
  }

  /** Largest memory of its results. */
  get resultBytes(): Bytes {
    return hitsBytes(this.#retrieval.top_k, textBytes(this.#pin.value, this.#retrieval.top_k));
  }

  /** @throws TextTooLong, TextWithoutTokens, EmbeddingFailed; `places.invalid` for a variable of the filter; the signal's reason */
  async run(
    text: string,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<WireOutcome> {
    checkQueryLength(text, this.#places.text);
    const { mode, top_k: topK, threshold, rrf, scores, min_score: minScore, highlight } = this.#retrieval;
    const lexical = lexicalOptions(this.#retrieval.lexical);
    const fusion = this.#fusion;
    const filter = this.#filter;
    const used = filter && usedVariables(filter, variables);
    const fused = { fusion, rrf, scores, minScore };
    const options = {
      text,
      mode,
      topK,
      threshold,
      ...fused,
      lexical,
      highlight,
      filter,
      variables: used,
      signal,
    };
    const leave = await this.#threads.enter(signal);
    const turn = () => {
      // The thread has found the hits; the event loop converts them.
      leave();
      return loopTurn();
    };
    try {
      const outcome = await this.#pin.value.searchInTurns(options, turn);
      leave();
      const stale = this.#retrieval.stale === 'serve' && this.#pin.value.outdated;
      return { ...outcome, stale, hits: await mapInTurns(outcome.hits, wireHit) };
    } catch (error) {
      throw searchError(error, this.#places);
    } finally {
      leave();
    }
  }
}

/** Returns the fusion that a hybrid request names or implies; the protocol's default is rank fusion. */
function wireFusion(
  { mode, fusion, rrf, scores }: Retrieval,
  configured: FusionMethod | undefined,
): FusionMethod | undefined {
  if (mode !== 'hybrid') return undefined;
  if (fusion !== undefined) return fusion;
  if (rrf !== undefined) return 'rrf';
  return scores !== undefined ? 'scores' : (configured ?? 'rrf');
}

/** Returns the variables that the filter names. The others are for templates and may have any type. */
function usedVariables(filter: Filter, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    filter.variables.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
  );
}
