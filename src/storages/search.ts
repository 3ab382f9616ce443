import type { Filter, FilterExpression, FusionMethod } from '../../lib/index.js';
import type { CatalogReranker, Rerankers } from '../catalog/rerankers.js';
import { UnknownModelError } from '../catalog/unknown-model.js';
import { type SearchPlaces, searchError } from '../failure/wire-errors.js';
import type {
  Pin,
  RerankOptions,
  ResultOptions,
  SearchableStorage,
  SearchOutcome,
  StoragesSearchOptions,
} from '../knowledge/index.js';
import { rerankCandidates } from '../knowledge/rerank.js';
import { rankedHits } from '../knowledge/result-options.js';
import { searchNamed } from '../knowledge/search-storages.js';
import { lexicalOptions } from '../lexical/fields.js';
import type { SlotShare } from '../lifecycle/fair-slots.js';
import { loopTurn, mapInTurns } from '../lifecycle/loop-turn.js';
import type { Bytes } from '../limits/bytes.js';
import { hitsBytes } from '../limits/estimates.js';
import { serverError } from '../protocol/errors.js';
import type { Hit, Retrieval, RetrievalPlan } from '../protocol/retrieval.js';
import { checkFilterSize, checkQueryLength } from './search-limits.js';
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
  readonly #pin: Pin<SearchableStorage>;
  readonly #retrieval: Omit<Retrieval, 'filter'>;
  readonly #places: SearchPlaces;
  readonly #filter: Filter | undefined;
  readonly #fusion: FusionMethod | undefined;
  readonly #threads: SlotShare;
  readonly #rerank: Reranking | undefined;

  /** Uses the pin, which the caller keeps. @throws `places.invalid` for the filter, the fusion and the reranker */
  constructor(
    pin: Pin<SearchableStorage>,
    retrieval: Retrieval,
    places: SearchPlaces,
    { threads, rerankers }: SearchResources,
  ) {
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
        ...resultOptions(rest),
      });
    } catch (error) {
      throw searchError(error, places);
    }
    this.#rerank = retrieval.rerank && reranking(retrieval.rerank, rerankers, places);
    this.#pin = pin;
    // Keep only the compiled filter: its JSON may be large.
    this.#retrieval = rest;
    this.#places = places;
    this.#threads = threads;
  }

  /** Largest memory of its results. */
  get resultBytes(): Bytes {
    const { top_k } = this.#retrieval;
    const { context = 0, offset, group_by, drop_duplicates } = this.#retrieval;
    const ranked = offset ?? group_by ?? drop_duplicates;
    const found = ranked === undefined ? top_k + 1 : rankedHits;
    const sorted = this.#rerank === undefined ? found : rerankCandidates(this.#rerank, top_k);
    const hits = Math.max(found, sorted) + 2 * context * top_k;
    return hitsBytes(hits, textBytes(this.#pin.value, hits));
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
      const { rerank, hits, plan, ...rest } = await inThread(this.#threads, signal, (turn) =>
        this.#pin.value.searchInTurns(options, turn),
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

  /** The storage that it searches. */
  get storage(): SearchableStorage {
    return this.#pin.value;
  }

  /** Whether the request wants to know that the storage's files have changed, and they have. */
  get outdated(): boolean {
    return this.#retrieval.stale === 'serve' && this.#pin.value.outdated;
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
    const { mode, threshold, rrf, scores, min_score: minScore, highlight, lexical } = this.#retrieval;
    const filter = this.#filter;
    return {
      text,
      mode,
      threshold,
      fusion: this.#fusion,
      rrf,
      scores,
      minScore,
      lexical: lexicalOptions(lexical),
      highlight,
      filter,
      variables: filter && usedVariables(filter, variables),
      ...resultOptions(this.#retrieval),
      signal,
    };
  }
}

/** Runs a search with one of the client's threads, until it converts its hits. */
async function inThread<T>(
  threads: SlotShare,
  signal: AbortSignal,
  search: (turn: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const leave = await threads.enter(signal);
  try {
    return await search(() => {
      // The thread has found the hits; the event loop converts them.
      leave();
      return loopTurn();
    });
  } finally {
    leave();
  }
}

/** Searches several storages and merges their hits. @throws as StorageSearch.run() */
export async function searchTogether(
  searches: readonly { name: string; search: StorageSearch }[],
  text: string,
  variables: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  threads: SlotShare,
): Promise<WireOutcome> {
  const named = searches.map(({ name, search }) => ({
    name,
    storage: search.storage,
    options: search.options(text, variables, signal),
  }));
  const [first] = searches as [(typeof searches)[number]];
  try {
    const { hits, outcomes } = await inThread(threads, signal, (turn) => searchNamed(named, turn));
    const [{ plan }] = outcomes as [(typeof outcomes)[number]];
    const sum = (of: (outcome: (typeof outcomes)[number]) => number) =>
      outcomes.reduce((total, outcome) => total + of(outcome), 0);
    return {
      embedMs: sum(({ embedMs }) => embedMs),
      searchMs: sum(({ searchMs }) => searchMs),
      times: {
        filter: sum(({ times }) => times.filter),
        dense: sum(({ times }) => times.dense),
        lexical: sum(({ times }) => times.lexical),
        fusion: sum(({ times }) => times.fusion),
      },
      stale: searches.some(({ search }) => search.outdated),
      hits: await mapInTurns(hits, wireHit),
      plan,
      plans: outcomes.map((outcome) => ({ storage: outcome.storage, plan: outcome.plan })),
    };
  } catch (error) {
    throw first.search.wireError(error);
  }
}

/** Returns the fields that choose hits from a ranking as options of the library. */
function resultOptions(retrieval: Omit<Retrieval, 'filter'>): ResultOptions & { topK: number } {
  const { top_k, offset, group_by, group_size, drop_duplicates, context, context_field } = retrieval;
  return {
    topK: top_k,
    offset,
    groupBy: group_by,
    groupSize: group_size,
    dropDuplicates: drop_duplicates,
    context,
    contextField: context_field,
  };
}

/** A catalog's reranker, and how a request uses it. */
type Reranking = RerankOptions & { model: CatalogReranker };

/** @throws `places.invalid` for an unknown model */
function reranking(
  { model, candidates, deadline_ms: deadlineMs }: NonNullable<Retrieval['rerank']>,
  rerankers: Rerankers,
  { rerank: where, invalid }: SearchPlaces,
): Reranking {
  return { model: findReranker(rerankers, model, `${where}.model`, invalid), candidates, deadlineMs };
}

/** Returns a reranker by name, or the catalog's first. @throws `invalid`, naming `path`, for an unknown name */
export function findReranker(
  rerankers: Rerankers,
  name: string | undefined,
  path: string,
  invalid: 1004 | 4003,
): CatalogReranker {
  try {
    return rerankers.find(name);
  } catch (cause) {
    if (!(cause instanceof UnknownModelError)) throw cause;
    const { message, known, nearest } = cause;
    throw serverError(invalid, `${path}: ${message}`, { path, known, nearest }, { cause });
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
