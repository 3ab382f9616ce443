import type { CatalogModels } from '../catalog/catalog-models.js';
import { configError } from '../failure/wire-errors.js';
import { type EntryFacts, KnowledgeBaseCache, type Pin, type SearchableStorage } from '../knowledge/index.js';
import type { Log } from '../log/log.js';
import type { StorageRoot } from './storage-root.js';

export interface KnowledgeBaseStoragesOptions {
  models: CatalogModels;
  log: Log;
  /** Storages that nobody holds are closed while all together take more. Default: a quarter of the machine's memory. */
  maxBytes?: number | undefined;
  /** true: opening a storage writes no file. */
  readOnly?: boolean | undefined;
}

/** The knowledge bases of all sessions of the process; their states are those of KnowledgeBaseCache. */
export class KnowledgeBaseStorages {
  readonly #cache: KnowledgeBaseCache;

  constructor({ models, log, maxBytes, readOnly }: KnowledgeBaseStoragesOptions) {
    this.#cache = new KnowledgeBaseCache({ models, maxBytes, readOnly, log });
  }

  /** Those that are loaded or being loaded. */
  entries(): EntryFacts[] {
    return this.#cache.entries();
  }

  /**
   * A pin on the storage of a config file. `where` names the field in errors.
   * @throws StorageOutsideRoot, StorageFileNotFound, InvalidEmbeddedStringStorageData, ModelLoadFailed; the signal's reason
   */
  async pin(
    path: string,
    where: string,
    root: StorageRoot,
    signal: AbortSignal,
  ): Promise<Pin<SearchableStorage>> {
    try {
      return await this.#cache.openPlace(root.place(path, where), { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw await configError(error, { path, where }, (message, facts) => root.hide(message, facts));
    }
  }

  /** Closes them; the sessions that held them must have ended before. */
  close(): Promise<void> {
    return this.#cache.close();
  }
}
