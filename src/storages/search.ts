import type { Filter } from '../../lib/index.js';
import type { Rerankers } from '../catalog/rerankers.js';
import { type SearchPlaces, searchError } from '../failure/wire-errors.js';
import type { SearchableStorage } from '../knowledge/index.js';
import { mostHits } from '../knowledge/most-hits.js';
import { searchNamed } from '../knowledge/search-storages.js';
import { inSlot, type SlotShare } from '../lifecycle/fair-slots.js';
import { type Bytes, noBytes, sumOf } from '../limits/bytes.js';
import { hitsBytes } from '../limits/estimates.js';
import type { Retrieval } from '../protocol/retrieval.js';
import { checkFilterSize, checkQueryLength } from './search-limits.js';
import {
  type LibraryOptions,
  libraryOptions,
  type Reranking,
  rerankingOf,
  usedVariables,
} from './search-options.js';
import { textBytes } from './text-bytes.js';
import { type WireOutcome, wireOutcome } from './wire.js';

/** What a client's searches share. */
export interface SearchResources {
  /** The client's share of the search threads. */
  readonly threads: SlotShare;
  readonly rerankers: Rerankers;
}

/** A storage to search. The caller keeps it pinned. */
export interface SearchedStorage {
  readonly storage: SearchableStorage;
  readonly place: SearchPlaces['storage'];
  /** Its name in the outcome; absent for the only storage. */
  readonly name?: string | undefined;
}

interface PreparedSearch extends SearchedStorage {
  readonly places: SearchPlaces;
  readonly options: LibraryOptions & { filter: Filter | undefined; rerank: Reranking | undefined };
}

/** A client's search in one storage or in several, checked before it runs. */
export class StorageSearch {
  readonly #searches: readonly PreparedSearch[];
  readonly #first: PreparedSearch;
  readonly #tellsStale: boolean;
  readonly #threads: SlotShare;

  /** @throws `places.invalid` for the filter, the fusion and the reranker */
  constructor(
    storages: readonly [SearchedStorage, ...SearchedStorage[]],
    retrieval: Retrieval,
    places: Omit<SearchPlaces, 'storage'>,
    { threads, rerankers }: SearchResources,
  ) {
    checkFilterSize(retrieval.filter, places);
    const prepare = (searched: SearchedStorage) => prepared(searched, retrieval, places, rerankers);
    this.#searches = storages.map(prepare);
    this.#first = this.#searches[0] as PreparedSearch;
    this.#tellsStale = retrieval.stale === 'serve';
    this.#threads = threads;
  }

  /** Largest memory of its results. */
  get resultBytes(): Bytes {
    const bytes = this.#searches.map(({ storage, options }) => {
      const hits = mostHits(options);
      return hitsBytes(hits, textBytes(storage, hits));
    });
    return bytes.reduce(sumOf, noBytes);
  }

  /** @throws TextTooLong, TextWithoutTokens, EmbeddingFailed; `places.invalid` for a variable of the filter; the signal's reason */
  async run(
    text: string,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    similarTo?: string,
  ): Promise<WireOutcome> {
    const { places, options } = this.#first;
    checkQueryLength(text, places.text);
    const searches = this.#searches.map(({ options, ...search }) => {
      const used = usedVariables(options.filter, variables);
      return { ...search, options: { ...options, text, variables: used, signal, similarTo } };
    });
    try {
      const found = await searchNamed(searches, ({ storage, options, places }) =>
        inSlot(this.#threads, signal, (turn) => storage.searchInTurns(options, turn)).catch((error) => {
          throw searchError(error, places);
        }),
      );
      const stale = this.#tellsStale && searches.some(({ storage }) => storage.outdated);
      return { ...(await wireOutcome(found, options.rerank)), stale };
    } catch (error) {
      throw searchError(error, places);
    }
  }
}

function prepared(
  searched: SearchedStorage,
  retrieval: Retrieval,
  shared: Omit<SearchPlaces, 'storage'>,
  rerankers: Rerankers,
): PreparedSearch {
  const { storage, place } = searched;
  const places = { ...shared, storage: place };
  try {
    const options = libraryOptions(retrieval, storage.fusion);
    // Keeps only the compiled filter: its JSON may be large.
    const filter = storage.check(options);
    const rerank = rerankingOf(retrieval, rerankers);
    return { ...searched, places, options: { ...options, filter, rerank } };
  } catch (error) {
    throw searchError(error, places);
  }
}
