import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServerConfig } from '../config/schema.js';
import { readFacts } from '../knowledge/folder/place.js';
import { type KnowledgeBaseCache, watchFolder } from '../knowledge/index.js';
import type { Log } from '../log/log.js';
import type { CatalogModels } from '../models/catalog-models.js';

interface WatchedFoldersOptions {
  config: Pick<ServerConfig, 'http' | 'read_only_storages'>;
  models: CatalogModels;
  cache: KnowledgeBaseCache;
  log: Log;
}

/** Time between two attempts to watch a folder that is gone, or that another process watches, in ms. */
const retryMs = 5000;

/** Keeps the indexes of folders current that `http.storages` says to watch. */
export class WatchedFolders {
  readonly #options: WatchedFoldersOptions;
  readonly #ending = new AbortController();
  readonly #running: Promise<unknown>;

  /** Begins to watch; never fails: what cannot be watched is in the log, and is tried again. */
  constructor(options: WatchedFoldersOptions) {
    this.#options = options;
    const { http, read_only_storages } = options.config;
    const watched = Object.entries(http.storages).filter(([, { watch }]) => watch);
    if (read_only_storages && watched.length > 0) {
      options.log.warn('http.storages: "watch" has no effect while read_only_storages is true');
      this.#running = Promise.resolve();
    } else this.#running = Promise.all(watched.map(([name, { config }]) => this.#keep(name, config)));
  }

  /** Ends the watches. Precondition: the knowledge bases are closed afterwards. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #keep(name: string, config: string): Promise<void> {
    const { signal } = this.#ending;
    let told = '';
    while (!signal.aborted) {
      try {
        await this.#watch(name, config);
      } catch (err) {
        if (signal.aborted) return;
        const reason = (err as Error).message;
        if (reason !== told) this.#options.log.warn({ storage: name, err }, 'not watched; it is tried again');
        told = reason;
        await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #watch(name: string, config: string): Promise<void> {
    const { models, cache, log } = this.#options;
    const place = dirname(config);
    const facts = await readFacts(place);
    if (facts === undefined)
      throw new Error(`${config}: is not an index that lorekeep index made, so it has no folder to watch`);
    await watchFolder({
      ...facts.options,
      folder: facts.folder,
      output: place,
      models,
      log,
      signal: this.#ending.signal,
      openBase: async (path) => {
        const pin = await cache.open(path);
        return { kb: pin.value, release: () => pin.release() };
      },
      onIndex: ({ records, files, read }) =>
        log.info({ storage: name, folder: facts.folder, records, files, read }, 'folder indexed and watched'),
      onChange: ({ kind, ...change }) =>
        log.debug({ storage: name, change: kind, ...change }, 'watched folder'),
    });
  }
}
