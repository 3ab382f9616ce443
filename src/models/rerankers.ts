import { type Ranking, Reranker } from '../../lib/internal.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import type { Catalog } from './catalog.js';
import type { ModelMemory } from './model-memory.js';
import { rerankerNeed } from './model-need.js';
import { ModelSlot } from './model-slot.js';
import { loadFailure, type ModelLog, openModel, refusal, unloadedMessages } from './open-model.js';
import type { CatalogEntry } from './schema.js';
import { findModel } from './unknown-model.js';

export interface RerankersOptions {
  /** Longest pair in tokens for models whose catalog entry has no limit. */
  defaultContext: number;
  /** Threads; 0: all that the process may use. */
  threads: number;
  /** How long an unused model stays in memory, in ms; 0: until close(). */
  idleMs: number;
  log: ModelLog;
  /** The budget that all models share. Default: none. */
  memory?: ModelMemory | undefined;
}

/** A reranker of the catalog, loaded when it ranks. */
export interface CatalogReranker {
  /** Catalog name. */
  readonly name: string;
  /** @throws as Reranker.rank(); ModelLoadError; the signal's reason */
  rank(query: string, documents: readonly string[], options: { signal?: AbortSignal }): Promise<Ranking>;
}

/** The rerankers of a catalog. Each is loaded at its first use and shared; close() frees them all. */
export class Rerankers {
  readonly #catalog: Catalog;
  readonly #options: RerankersOptions;
  readonly #slots = new Map<string, ModelSlot<Reranker>>();
  readonly #closing = new AbortController();

  constructor(catalog: Catalog, options: RerankersOptions) {
    this.#catalog = catalog;
    this.#options = options;
  }

  /** Names of the rerankers, in the catalog's order. The first is the default. */
  get names(): string[] {
    return this.#catalog.namesOf('reranker');
  }

  /** Those that are in memory. */
  get inMemory(): { name: string; bytes: number; contextSize: number }[] {
    return [...this.#slots.values()].flatMap(({ name, bytes, current }) =>
      current === undefined ? [] : [{ name, bytes, contextSize: current.facts.contextSize }],
    );
  }

  /** Returns a reranker by name, or the first; its file is not looked at yet. @throws UnknownModelError */
  find(name: string | undefined): CatalogReranker {
    const entry = findModel(this.#catalog, 'reranker', name);
    return {
      name: entry.name,
      rank: (query, documents, { signal = this.#closing.signal }) =>
        this.#rank(entry, query, documents, signal),
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#slots.values()].map((slot) => slot.close()));
  }

  async #rank(
    entry: CatalogEntry,
    query: string,
    documents: readonly string[],
    signal: AbortSignal,
  ): Promise<Ranking> {
    const { file } = this.#catalog;
    if (this.#closing.signal.aborted) throw refusal(file, entry.name, 'CLOSED');
    const slot = this.#slots.get(entry.name) ?? this.#add(entry);
    const leave = slot.use();
    let model: Reranker;
    try {
      model = await untilAborted(slot.inMemory(), signal);
    } catch (error) {
      leave();
      throw signal.aborted ? signal.reason : loadFailure(file, entry.name, error);
    }
    try {
      return await model.rank(query, documents, { signal });
    } finally {
      leave();
    }
  }

  #add(entry: CatalogEntry): ModelSlot<Reranker> {
    const { name } = entry;
    const { idleMs, log, memory, threads, defaultContext } = this.#options;
    const catalog = this.#catalog;
    const slot = new ModelSlot<Reranker>({
      name,
      idleMs,
      memory,
      load: (signal) =>
        openModel({ catalog, entry, log, signal }, (path, { context_size: contextSize = defaultContext }) =>
          Reranker.load(path, { contextSize, threads, signal }),
        ),
      need: async () => rerankerNeed(catalog.locate(entry).path, threads),
      refuse: (why) => refusal(catalog.file, name, why),
      onUnloaded: (why) => log.info({ model: name }, unloadedMessages[why]),
      // Nothing was made with the old file: the next call loads the new one.
      onChanged: () => this.#slots.delete(name),
    });
    this.#slots.set(name, slot);
    return slot;
  }
}
