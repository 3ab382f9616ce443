import { join, resolve } from 'node:path';
import { EmbeddingModel, LorekeepError } from '../../lib/index.js';
import { homeFolder } from '../files/home.js';
import { didYouMean, nearestName } from '../schema/nearest.js';
import { shellWord } from '../schema/shell-word.js';
import { Catalog } from './catalog.js';
import { checkModelFile } from './checked-file.js';
import { LoadedModel } from './loaded-model.js';
import { ModelLoadError, notDownloaded } from './model-load-error.js';
import type { CatalogEntry } from './schema.js';

/** The package's catalog: the two models that are included, and models whose files users put beside them. */
const shippedCatalog = join(homeFolder, 'data', 'models.json');

/** Receives messages about loaded and unloaded models, such as a server's log. */
export interface ModelLog {
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface CatalogModelsOptions {
  /** Longest text in tokens for models whose catalog entry has no limit. */
  defaultContext: number;
  /** Embedding threads; 0: all that the process may use. */
  threads: number;
  /** How long an idle model stays in memory, in ms; 0: until close(). */
  idleMs: number;
  log: ModelLog;
  /** Advice in the error for a name that is not in the catalog. */
  remedy: string;
  /** Flags with which `lorekeep build` uses this catalog. */
  buildFlags?: string | undefined;
}

/** The same values as those of a server without a config file. */
export const defaultOptions: CatalogModelsOptions = {
  defaultContext: 512,
  threads: 0,
  idleMs: 0,
  log: { info() {}, error() {} },
  remedy: 'correct embedding_model, or open another catalog',
};

/** Most names in a message; `detail` has all of them. */
const longestList = 8;

/**
 * The embedding models of a catalog file, for `openKnowledgeBase(path, { models })`. Each is loaded at its first use and
 * shared; close() frees them all.
 */
export class CatalogModels implements AsyncDisposable, Disposable {
  readonly #catalog: Catalog;
  readonly #options: CatalogModelsOptions;
  readonly #closing = new AbortController();
  readonly #models = new Map<string, Promise<LoadedModel>>();
  /** Those of #models that have been loaded. */
  readonly #opened = new Map<string, LoadedModel>();

  /** @internal Use CatalogModels.open(). */
  constructor(catalog: Catalog, options: Partial<CatalogModelsOptions> = {}) {
    this.#catalog = catalog;
    this.#options = { ...defaultOptions, ...options };
  }

  /**
   * Reads a catalog without loading models. Default: the package's catalog, which has `all-MiniLM-L6-v2` and `lorekeep-mini`.
   * @throws LorekeepError: NOT_FOUND, IO, CORRUPT, INVALID_ARGUMENT with file, line, entry and expected value
   */
  static async open(file: string = shippedCatalog): Promise<CatalogModels> {
    const catalog = await Catalog.load(resolve(file));
    const buildFlags = file === shippedCatalog ? undefined : `--catalog ${shellWord(catalog.file)}`;
    return new CatalogModels(catalog, { buildFlags });
  }

  /** Flags with which `lorekeep build` uses this catalog; shown in errors. */
  get buildFlags(): string | undefined {
    return this.#options.buildFlags;
  }

  /** Absolute path of the catalog. */
  get file(): string {
    return this.#catalog.file;
  }

  /** Names of the embedding models, in the catalog's order. */
  get names(): string[] {
    return this.#catalog.embeddingModels;
  }

  /** @internal Every entry of the catalog, with its model if it was loaded. */
  entries(): { entry: CatalogEntry; loaded: LoadedModel | undefined }[] {
    return this.#catalog.entries.map((entry) => ({ entry, loaded: this.#opened.get(entry.name) }));
  }

  /** One sentence per key of the catalog without effect. */
  get warnings(): readonly string[] {
    return this.#catalog.warnings;
  }

  /** @internal Returns the catalog entry of an embedding model. @throws INVALID_ARGUMENT for an unknown name */
  entry(name: string): CatalogEntry {
    const entry = this.#catalog.find(name);
    if (entry?.model_type === 'embedding') return entry;
    throw this.#unknown(name, entry);
  }

  /**
   * Returns a model by name, loaded. This object owns it and unloads it after `idleMs` unless it is held. After a failed
   * load, the next call tries again.
   * @throws LorekeepError: INVALID_ARGUMENT for an unknown name, ModelLoadError, CLOSED
   */
  async resolve(name: string): Promise<LoadedModel> {
    const entry = this.entry(name);
    if (this.#closing.signal.aborted) throw this.#refusal(name, 'CLOSED');
    const known = this.#models.get(name);
    const model = await (known ?? this.#firstLoad(entry));
    try {
      await model.inMemory();
      return model;
    } catch (error) {
      // The file was replaced: load the new one under the same name.
      if (this.#models.get(name) === known) throw error;
      return this.resolve(name);
    }
  }

  /** Frees the models after their pending embeddings. Storages opened with them can no longer embed queries. */
  async close(): Promise<void> {
    this.#closing.abort();
    const models = await Promise.allSettled(this.#models.values());
    await Promise.all(
      models.map((model) => (model.status === 'fulfilled' ? model.value.close() : undefined)),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For `using`: closes without waiting for it, and drops its errors. */
  [Symbol.dispose](): void {
    this.close().catch(() => {});
  }

  #firstLoad(entry: CatalogEntry): Promise<LoadedModel> {
    const { name } = entry;
    const { idleMs, log } = this.#options;
    const forget = () => {
      if (this.#models.get(name) !== loading) return;
      this.#models.delete(name);
      this.#opened.delete(name);
    };
    const loading: Promise<LoadedModel> = this.#open(entry).then(
      (model) =>
        new LoadedModel(model, entry, {
          reload: () => this.#open(entry),
          refuse: (why) => this.#refusal(name, why),
          idleMs,
          onUnloaded: () => log.info({ model: name }, 'model unloaded: nothing used it'),
          onChanged: forget,
        }),
    );
    this.#models.set(name, loading);
    loading.then((model) => this.#opened.set(name, model), forget);
    return loading;
  }

  async #open(entry: CatalogEntry): Promise<EmbeddingModel> {
    const { variant, path, present } = this.#catalog.locate(entry);
    if (!present && variant.file === undefined) throw notDownloaded(entry.name, this.file);
    const { log, defaultContext } = this.#options;
    const started = performance.now();
    try {
      await checkModelFile(path, variant, this.#closing.signal);
      const model = await this.#load(path, entry, variant.context_size ?? defaultContext);
      const { dimension, contextSize, fingerprint } = model.facts;
      const ms = Math.round(performance.now() - started);
      log.info({ model: entry.name, path, dimension, contextSize, fingerprint, ms }, 'model loaded');
      return model;
    } catch (error) {
      log.error({ model: entry.name, path, err: error }, 'model not loaded');
      if (this.#closing.signal.aborted) throw this.#refusal(entry.name, 'CLOSED');
      throw error instanceof LorekeepError ? this.#failure(entry.name, error) : error;
    }
  }

  async #load(path: string, entry: CatalogEntry, contextSize: number): Promise<EmbeddingModel> {
    const { signal } = this.#closing;
    const { threads } = this.#options;
    const model = await EmbeddingModel.load(path, { pooling: entry.pooling, contextSize, threads, signal });
    const { dimension: found } = model.facts;
    const expected = entry.dimension ?? found;
    if (expected === found) return model;
    await model.close();
    const reason = `embeddings of ${found} numbers; the catalog says ${expected}`;
    throw LorekeepError.about('DIMENSION_MISMATCH', { file: path, reason, expected, found });
  }

  #failure(model: string, cause: LorekeepError): ModelLoadError {
    const { code, message: reason } = cause;
    const told = `cannot be loaded (${code}); the server's log says why`;
    return new ModelLoadError(code, { model, file: this.file, reason, told }, { cause });
  }

  #refusal(model: string, why: 'CLOSED' | 'CHANGED'): ModelLoadError {
    const { file } = this;
    if (why === 'CLOSED') return new ModelLoadError(why, { model, file, reason: 'used after close()' });
    const reason = 'its file has changed; what was made with the old one must be made anew';
    return new ModelLoadError('CORRUPT', { model, file, reason, why });
  }

  #unknown(name: string, other: CatalogEntry | undefined): LorekeepError {
    const { file, names: known } = this;
    const { remedy } = this.#options;
    const shown = JSON.stringify(name.slice(0, 128));
    const nearest = nearestName(name, known);
    const listed = known.slice(0, longestList).map((one) => JSON.stringify(one));
    const has = listed.length === 0 ? 'no embedding model' : listed.join(', ');
    const reason =
      other === undefined
        ? `there is no embedding model ${shown}${didYouMean(nearest) || `; the catalog has ${has}`}`
        : `model ${shown} is of type ${other.model_type}; an embedding model is needed`;
    const detail = { file, field: 'embedding_model', reason, remedy, known, nearest };
    return new LorekeepError('INVALID_ARGUMENT', `${file}: ${reason} (${remedy})`, detail);
  }
}
