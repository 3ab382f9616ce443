import { type Ranking, Reranker } from '../../lib/internal.js';
import { rerankerNeed } from './model-need.js';
import { remoteNeed } from './remote/need.js';
import { openServer } from './remote/open-remote.js';
import { RemoteReranker } from './remote/reranker.js';
import type { Residency } from './residency.js';
import type { Resident } from './resident.js';
import type { CatalogEntry } from './schema.js';
import { findModel } from './unknown-model.js';

export interface RerankersOptions {
  /** Longest pair in tokens for models whose catalog entry has no limit. */
  defaultContext: number;
  /** Threads; 0: all that the process may use. */
  threads: number;
  /** How long an unused model stays in memory, in ms; 0: until close(). */
  idleMs: number;
}

/** A reranker of the catalog, loaded when it ranks. */
export interface CatalogReranker {
  /** Catalog name. */
  readonly name: string;
  /** @throws as Reranker.rank(); ModelLoadError; the signal's reason */
  rank(query: string, documents: readonly string[], options: { signal?: AbortSignal }): Promise<Ranking>;
}

/** The rerankers of a catalog, which stay on the CPU or are computed by another server. Each is loaded at its first use and shared. */
export class Rerankers {
  readonly #residency: Residency;
  readonly #options: RerankersOptions;
  readonly #residents = new Map<string, Resident<Reranker | RemoteReranker>>();

  constructor(residency: Residency, options: RerankersOptions) {
    this.#residency = residency;
    this.#options = options;
  }

  /** Returns a reranker by name, or the first; its file is not looked at yet. @throws UnknownModelError */
  find(name: string | undefined): CatalogReranker {
    const entry = findModel(this.#residency.catalog, 'reranker', name);
    return {
      name: entry.name,
      rank: async (query, documents, { signal }) => {
        using lease = await this.#resident(entry).lease(signal);
        return await lease.model.rank(query, documents, { signal });
      },
    };
  }

  #resident(entry: CatalogEntry): Resident<Reranker | RemoteReranker> {
    const known = this.#residents.get(entry.name);
    // Nothing was made with a file that was replaced: the next call loads the new one.
    if (known?.isUsed) return known;
    const { idleMs, threads, defaultContext } = this.#options;
    const { catalog } = this.#residency;
    const resident = this.#residency.resident<Reranker | RemoteReranker>({
      entry,
      idleMs,
      open: async ({ path, variant: { remote, context_size: contextSize = defaultContext } }, _, signal) =>
        remote === undefined
          ? Reranker.load(path, { contextSize, threads, signal })
          : new RemoteReranker(await openServer(catalog, entry.name, remote), contextSize),
      need: async ({ path, variant: { remote } }) =>
        remote === undefined ? rerankerNeed(path, threads) : remoteNeed(remote),
    });
    this.#residents.set(entry.name, resident);
    return resident;
  }
}
