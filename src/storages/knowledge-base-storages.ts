import { LorekeepError, type VersionLimits } from '../../lib/internal.js';
import { KnowledgeBaseCache, type Pin, type SearchableStorage } from '../knowledge/index.js';
import type { OnForgotten } from '../knowledge/operator/operator-socket.js';
import type { PostgresConnections } from '../knowledge/postgres/connections.js';
import { EngineError } from '../knowledge/postgres/engine-error.js';
import type { Log } from '../log/log.js';
import type { CatalogModels } from '../models/catalog-models.js';
import type { DiskLimits } from './disk-room.js';
import { GrownBases } from './grown-bases.js';
import type { StorageRoot } from './storage-root.js';
import { configError } from './wire-errors.js';

export interface KnowledgeBaseStoragesOptions {
  models: CatalogModels;
  log: Log;
  /** Unpinned storages are evicted while all together take more bytes. Default: a quarter of the machine's memory. */
  maxBytes?: number | undefined;
  /** true: opening a storage writes no files. */
  readOnly?: boolean | undefined;
  /** Older versions that each keeps. Default: none. */
  versions?: (() => VersionLimits) | undefined;
  /** Bytes by which changes of clients may let knowledge bases grow. */
  growth(): DiskLimits;
  /** Databases that configs may name. They are closed with the storages. */
  connections?: PostgresConnections | undefined;
  /** Told of records that were forgotten; returns the histories that quote them. */
  onForgotten?: OnForgotten | undefined;
}

/** The knowledge bases of all sessions in the process. */
export class KnowledgeBaseStorages {
  readonly cache: KnowledgeBaseCache;
  readonly #grown: GrownBases;
  readonly #log: Log;
  readonly #connections: PostgresConnections | undefined;

  constructor({
    models,
    log,
    maxBytes,
    readOnly,
    versions,
    connections,
    growth,
    onForgotten = async () => [],
  }: KnowledgeBaseStoragesOptions) {
    this.#log = log;
    this.#connections = connections;
    this.#grown = new GrownBases(growth);
    this.cache = new KnowledgeBaseCache({
      models,
      maxBytes,
      readOnly,
      log,
      versions,
      connections,
      onForgotten,
    });
  }

  /**
   * Pins the storage of a config file. `where` names the field in errors.
   * @throws StorageOutsideRoot, StorageFileNotFound, InvalidEmbeddedStringStorageData, ModelLoadFailed; the signal's reason
   */
  async pin(
    path: string,
    where: string,
    root: StorageRoot,
    { signal, stale }: { signal: AbortSignal; stale?: 'wait' | 'serve' | undefined },
  ): Promise<Pin<SearchableStorage>> {
    try {
      const pin = await this.cache.openPlace(root.place(path, where), { signal, stale });
      this.#grown.watch(pin.value);
      return pin;
    } catch (error) {
      signal.throwIfAborted();
      this.#tellRemedy(error);
      throw configError(error, { path, where }, await root.shownPath());
    }
  }

  /** Clients do not learn the server's paths, so the command with paths goes to the log. */
  #tellRemedy(error: unknown): void {
    if (error instanceof EngineError) this.#log.warn({ err: error }, 'storage not loaded');
    if (!(error instanceof LorekeepError)) return;
    const { remedy, file, reason } = error.detail;
    if (remedy !== undefined) this.#log.warn({ file, reason }, `storage not loaded; ${remedy}`);
  }

  /** Closes all. Precondition: the sessions that pinned them have ended. */
  async close(): Promise<void> {
    await this.cache.close();
    await this.#connections?.close();
  }
}
