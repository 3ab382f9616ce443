import type { EmbeddingModels } from '../catalog/embedding-models.js';
import { isFileError } from '../knowledge/file-error.js';
import { type EntryFacts, KnowledgeBaseCache, type Pin, type SearchableStorage } from '../knowledge/index.js';
import type { Log } from '../log/log.js';
import { ServerError, serverError } from '../protocol/errors.js';
import { requireEmbeddingModel } from './embedding-model-name.js';
import type { StorageRoot } from './storage-root.js';

export interface KnowledgeBaseStoragesOptions {
  models: EmbeddingModels;
  log: Log;
  /** Storages that nobody holds are closed while all together take more. Default: a quarter of the machine's memory. */
  maxBytes?: number | undefined;
}

/** The knowledge bases of all sessions of the process; their states are those of KnowledgeBaseCache. */
export class KnowledgeBaseStorages {
  readonly #cache: KnowledgeBaseCache;

  constructor({ models, log, maxBytes }: KnowledgeBaseStoragesOptions) {
    const resolve = (name: string) => models.load(requireEmbeddingModel(models, name, modelField));
    this.#cache = new KnowledgeBaseCache({ models: resolve, maxBytes, log });
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
      throw await invalidData(error, { path, where }, root);
    }
  }

  /** Closes them; the sessions that held them must have ended before. */
  close(): Promise<void> {
    return this.#cache.close();
  }
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
