import type { EmbeddingModels } from '../catalog/embedding-models.js';
import type { LoadedModel } from '../catalog/loaded-model.js';
import { isFileError } from '../knowledge/file-error.js';
import { type EntryFacts, KnowledgeBaseCache, type KnowledgeBasePin } from '../knowledge/index.js';
import type { Log } from '../log/log.js';
import { ServerError, serverError } from '../protocol/errors.js';
import { requireEmbeddingModel } from './embedding-model-name.js';
import type { StoragePin } from './shared-storage.js';
import type { StorageRoot } from './storage-root.js';

export interface FileStoragesOptions {
  models: EmbeddingModels;
  log: Log;
  /** Storages that nobody holds are closed while all together take more. Default: a quarter of the machine's memory. */
  maxBytes?: number | undefined;
}

/** The storages from files, shared by all sessions of the process; their states are those of KnowledgeBaseCache. */
export class FileStorages {
  readonly #models: EmbeddingModels;
  readonly #cache: KnowledgeBaseCache;
  #opening = 0;
  /** Keep models in memory while a storage that needs them is being opened. */
  #modelHolds: (() => void)[] = [];

  constructor({ models, log, maxBytes }: FileStoragesOptions) {
    this.#models = models;
    this.#cache = new KnowledgeBaseCache({
      models: async (name) => {
        const model = await models.load(requireEmbeddingModel(models, name, modelField));
        this.#modelHolds.push(model.hold());
        return model;
      },
      maxBytes,
      log,
    });
  }

  /** Those that are loaded or being loaded. */
  entries(): EntryFacts[] {
    return this.#cache.entries();
  }

  /**
   * A pin on the storage of a config file. `where` names the field in errors.
   * @throws StorageOutsideRoot, StorageFileNotFound, InvalidEmbeddedStringStorageData, ModelLoadFailed; the signal's reason
   */
  async pin(path: string, where: string, root: StorageRoot, signal: AbortSignal): Promise<StoragePin> {
    const files = await root.openConfig(path, where);
    this.#opening++;
    try {
      const held = await this.#cache.openFiles(files, { signal });
      try {
        return storagePin(held, await this.#modelOf(held));
      } catch (error) {
        await held.release();
        throw error;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw await invalidData(error, { path, where }, root);
    } finally {
      this.#opening--;
      if (this.#opening === 0) for (const release of this.#modelHolds.splice(0)) release();
    }
  }

  /** Closes them; the sessions that held them must have ended before. */
  close(): Promise<void> {
    return this.#cache.close();
  }

  #modelOf({ knowledgeBase }: KnowledgeBasePin): Promise<LoadedModel> {
    return this.#models.load(
      requireEmbeddingModel(this.#models, knowledgeBase.config.embedding_model, modelField),
    );
  }
}

function storagePin(held: KnowledgeBasePin, model: LoadedModel): StoragePin {
  const releaseModel = model.hold();
  return {
    storage: held.knowledgeBase.storage,
    model,
    again: () => storagePin(held.again(), model),
    release: () => {
      releaseModel();
      return held.release();
    },
  };
}

/** Everything that is wrong with the files is one code for clients, whose message has no path outside the root. */
async function invalidData(
  error: unknown,
  { path, where }: { path: string; where: string },
  root: StorageRoot,
): Promise<unknown> {
  if (error instanceof ServerError && error.code === 8003 && error.details.path === modelField) {
    const details = { ...error.details, path: where, file: path, field: modelField };
    return serverError(8003, `${where}: ${JSON.stringify(path)}: ${error.message}`, details, {
      cause: error,
    });
  }
  if (!isFileError(error)) return error;
  const { file, ...facts } = error.detail;
  const details = { ...facts, ...(typeof file === 'string' && { file: await root.hide(file) }), path: where };
  const message = `${where}: ${await root.hide(error.message)}`;
  return serverError(8003, message, details, { cause: error });
}

const modelField = 'embedding_model';
