import type { Filter } from '../../lib/index.js';
import type { Rerankers } from '../catalog/rerankers.js';
import { type SearchPlaces, searchError } from '../failure/wire-errors.js';
import type { Pin, SearchableStorage, SearchOutcome, StoragesSearchOptions } from '../knowledge/index.js';
import { mostHits } from '../knowledge/most-hits.js';
import { inSlot, type SlotShare } from '../lifecycle/fair-slots.js';
import { mapInTurns } from '../lifecycle/loop-turn.js';
import type { Bytes } from '../limits/bytes.js';
import { hitsBytes } from '../limits/estimates.js';
import type { Hit, Retrieval, RetrievalPlan } from '../protocol/retrieval.js';
import { checkFilterSize, checkQueryLength } from './search-limits.js';
import { libraryOptions, type Reranking, rerankingOf, usedVariables } from './search-options.js';
import { textBytes } from './text-bytes.js';
import { wireHit, wireRerank } from './wire.js';

/** The outcome of a search, with hits in protocol form. */
export interface WireOutcome extends Omit<SearchOutcome, 'hits' | 'plan' | 'rerank'> {
  hits: Hit[];
  /** Whether the request wants to know that the storage's files have changed, and they have. */
  stale: boolean;
  plan: RetrievalPlan;
  /** Of a search of several storages. */
  plans?: { storage: string; plan: RetrievalPlan }[];
}

/** What a client's searches share. */
export interface SearchResources {
  /** The client's share of the search threads. */
  readonly threads: SlotShare;
  readonly rerankers: Rerankers;
}

/** A client's search in one storage, checked before it runs. */
export class StorageSearch {
  readonly storage: SearchableStorage;
  readonly #options: Omit<StoragesSearchOptions, 'text'> & { topK: number; filter: Filter | undefined };
  readonly #rerank: Reranking | undefined;
  readonly #stale: Retrieval['stale'];
  readonly #places: SearchPlaces;
  readonly #threads: SlotShare;

  /** Uses the pin, which the caller keeps. @throws `places.invalid` for the filter, the fusion and the reranker */
  constructor(
    { value: storage }: Pin<SearchableStorage>,
    retrieval: Retrieval,
    places: SearchPlaces,
    { threads, rerankers }: SearchResources,
  ) {
    checkFilterSize(retrieval.filter, places);
    this.storage = storage;
    this.#stale = retrieval.stale;
    this.#places = places;
    this.#threads = threads;
    try {
      const options = libraryOptions(retrieval, storage.fusion);
      // Keeps only the compiled filter: its JSON may be large.
      this.#options = { ...options, filter: storage.check(options) };
      this.#rerank = rerankingOf(retrieval, rerankers);
    } catch (error) {
      throw this.wireError(error);
    }
  }

  /** Largest memory of its results. */
  get resultBytes(): Bytes {
    const hits = mostHits({ ...this.#options, rerank: this.#rerank });
    return hitsBytes(hits, textBytes(this.storage, hits));
  }

  /** @throws TextTooLong, TextWithoutTokens, EmbeddingFailed; `places.invalid` for a variable of the filter; the signal's reason */
  async run(
    text: string,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    similarTo?: string,
  ): Promise<WireOutcome> {
    const options = { ...this.options(text, variables, signal), rerank: this.#rerank, similarTo };
    try {
      const { rerank, hits, plan, ...rest } = await inSlot(this.#threads, signal, (turn) =>
        this.storage.searchInTurns(options, turn),
      );
      const reranked = rerank && { rerank: wireRerank(this.#rerank, rerank) };
      return {
        ...rest,
        stale: this.outdated,
        hits: await mapInTurns(hits, wireHit),
        plan: { ...plan, ...reranked },
      };
    } catch (error) {
      throw this.wireError(error);
    }
  }

  /** Whether the request wants to know that the storage's files have changed, and they have. */
  get outdated(): boolean {
    return this.#stale === 'serve' && this.storage.outdated;
  }

  wireError(error: unknown): unknown {
    return searchError(error, this.#places);
  }

  /** The options of the library's search. @throws TextTooLong; `places.invalid` */
  options(
    text: string,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): StoragesSearchOptions {
    checkQueryLength(text, this.#places.text);
    const options = this.#options;
    return { ...options, text, variables: usedVariables(options.filter, variables), signal };
  }
}
