import { nextSlice } from '../base/waiting/next-slice.js';
import type { Account } from '../fairness/account.js';
import { type Bytes, noBytes, sumOf } from '../fairness/bytes.js';
import type { SearchableStorage } from '../knowledge/index.js';
import { searchNamed } from '../knowledge/search-storages.js';
import type { Rerankers } from '../models/rerankers.js';
import { resultBytes } from './result-bytes.js';
import { checkFilterSize, searchedPart } from './search-limits.js';
import { type AskedRetrieval, type CheckedOptions, checkedOptions, usedVariables } from './search-options.js';
import { type WireOutcome, wireOutcome } from './wire.js';
import { type SearchPlaces, searchError } from './wire-errors.js';

/** Resources that a client's searches share. */
export interface SearchResources {
  readonly account: Account;
  readonly rerankers: Rerankers;
}

/** A storage to search. The caller keeps it pinned. */
export interface SearchedStorage {
  readonly storage: SearchableStorage;
  readonly place: SearchPlaces['storage'];
  /** Its name in the outcome; absent for the only storage. */
  readonly name?: string | undefined;
}

type CheckedSearch = SearchedStorage & { readonly places: SearchPlaces; readonly options: CheckedOptions };

/** A client's search in one storage or in several, checked before it runs. */
export class StorageSearch {
  readonly #searches: readonly CheckedSearch[];
  readonly #tellsStale: boolean;
  readonly #account: Account;

  private constructor(searches: readonly CheckedSearch[], tellsStale: boolean, account: Account) {
    this.#searches = searches;
    this.#tellsStale = tellsStale;
    this.#account = account;
  }

  /** Checks the search. A long filter is compiled in a turn of the client. @throws `places.invalid` for its fields */
  static async prepare(
    storages: readonly [SearchedStorage, ...SearchedStorage[]],
    retrieval: AskedRetrieval,
    shared: Omit<SearchPlaces, 'storage'>,
    { account, rerankers }: SearchResources,
  ): Promise<StorageSearch> {
    const takesLong = checkFilterSize(retrieval.filter, shared);
    const [{ storage: first }] = storages;
    // Merged hits are as many as the first storage says.
    const asked = { ...retrieval, top_k: retrieval.top_k ?? first.defaults.topK };
    const known = new Map<SearchableStorage, CheckedOptions>();
    const searches: CheckedSearch[] = [];
    for (const searched of storages) {
      const { storage, place } = searched;
      const places = { ...shared, storage: place };
      if (!known.has(storage) && takesLong) await nextSlice();
      try {
        const options = known.get(storage) ?? checkedOptions(asked, storage, rerankers);
        known.set(storage, options);
        searches.push({ ...searched, places, options });
      } catch (error) {
        throw searchError(error, places);
      }
    }
    return new StorageSearch(searches, retrieval.stale === 'serve', account);
  }

  /** Largest memory of its results. */
  get resultBytes(): Bytes {
    return this.#searches.map(({ storage, options }) => resultBytes(storage, options)).reduce(sumOf, noBytes);
  }

  /** @throws TextTooLong, TextWithoutTokens, EmbeddingFailed; `places.invalid` for a variable of the filter; the signal's reason */
  async run(
    text: string,
    variables: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<WireOutcome> {
    const [{ places, options }] = this.#searches as [CheckedSearch];
    const query = searchedPart(text);
    const searches = this.#searches.map(({ options, ...search }) => {
      const used = usedVariables(options.filter, variables);
      return { ...search, options: { ...options, text: query, variables: used, signal } };
    });
    const search = ({ storage, options, places }: (typeof searches)[number]) =>
      this.#account
        .compute('search', signal, (next) => storage.searchInSlices(options, next))
        .catch((error) => {
          throw searchError(error, places);
        });
    try {
      const found = await searchNamed(searches, search, nextSlice);
      const stale = this.#tellsStale && searches.some(({ storage }) => storage.outdated);
      return { ...(await wireOutcome(found, options.rerank)), stale };
    } catch (error) {
      throw searchError(error, places);
    }
  }
}
