import { LorekeepError } from '../../lib/index.js';
import type { EmbeddingModels } from '../catalog/embedding-models.js';
import type { LoadedModel } from '../catalog/loaded-model.js';
import { fileIdentity } from '../knowledge/identity.js';
import { openKnowledgeBase, type PathResolver } from '../knowledge/index.js';
import type { Log } from '../log/log.js';
import { serverError } from '../protocol/errors.js';
import { requireEmbeddingModel } from './embedding-model-name.js';
import { SharedStorage, type StoragePin } from './shared-storage.js';
import { StorageCache } from './storage-cache.js';
import type { StorageRoot } from './storage-root.js';

/**
 * The storages from files, shared by all sessions of the process. One that is held never changes; a changed file is seen
 * by the next request for it, beside those that hold the old content.
 */
export class FileStorages {
  readonly #models: EmbeddingModels;
  readonly #log: Log;
  readonly #cache = new StorageCache();

  constructor(models: EmbeddingModels, log: Log) {
    this.#models = models;
    this.#log = log;
  }

  /** Storages held or being loaded. */
  get size(): number {
    return this.#cache.size;
  }

  /**
   * A pin on the storage of a config file. `where` names the field in errors.
   * @throws StorageOutsideRoot, StorageFileNotFound, InvalidEmbeddedStringStorageData, ModelLoadFailed; the signal's reason
   */
  async pin(path: string, where: string, root: StorageRoot, signal: AbortSignal): Promise<StoragePin> {
    const config = await root.resolve(path, where);
    const resolvePath = root.besideConfig(config);
    try {
      const key = await fileIdentity(config, resolvePath);
      return await this.#cache.acquire(
        key,
        (abort, onIdle) => this.#load(config, resolvePath, abort, onIdle),
        signal,
      );
    } catch (error) {
      signal.throwIfAborted();
      throw await invalidData(error, where, root);
    }
  }

  /** Resolves when nothing is being loaded; the sessions that wanted it must have ended before. */
  close(): Promise<void> {
    return this.#cache.settled();
  }

  async #load(
    config: string,
    resolvePath: PathResolver,
    signal: AbortSignal,
    onIdle: () => void,
  ): Promise<SharedStorage> {
    const started = performance.now();
    let model: LoadedModel | undefined;
    const models = async (name: string) => {
      model = await this.#models.load(requireEmbeddingModel(this.#models, name));
      return model;
    };
    const opened = await openKnowledgeBase(config, { models, resolvePath, signal, log: this.#log });
    const ms = Math.round(performance.now() - started);
    const { size, dimension, storage } = opened;
    this.#log.info(
      { config, records: size, dimension, memoryBytes: storage.memoryBytes, ms },
      'storage loaded',
    );
    return new SharedStorage(storage, model as LoadedModel, onIdle);
  }
}

/** Everything that is wrong with the files is one code for clients, whose message has no path outside the root. */
async function invalidData(error: unknown, where: string, root: StorageRoot): Promise<unknown> {
  if (!(error instanceof LorekeepError) || notTheFiles.has(error.code)) return error;
  const { file, ...facts } = error.detail;
  const details = { ...facts, ...(typeof file === 'string' && { file: await root.hide(file) }), path: where };
  const message = `${where}: ${await root.hide(error.message)}`;
  return serverError(8003, message, details, { cause: error });
}

const notTheFiles: ReadonlySet<string> = new Set(['CANCELLED', 'CLOSED', 'OUT_OF_MEMORY', 'INTERNAL']);
