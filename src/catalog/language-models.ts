import { LanguageModel, LorekeepError } from '../../lib/index.js';
import { IdleTimer } from '../lifecycle/idle-timer.js';
import { didYouMean, nearestName } from '../schema/nearest.js';
import type { Catalog, LocatedVariant } from './catalog.js';
import type { ModelLog } from './catalog-models.js';
import { checkModelFile } from './checked-file.js';
import { ModelLoadError, notDownloaded } from './model-load-error.js';
import type { CatalogEntry, ModelVariant } from './schema.js';
import type { TextModel } from './text-model.js';

/** How a language model's file is loaded. */
export interface LoadOptions {
  contextSize: number;
  /** Decoding threads; 0: all that the process may use. */
  threads: number;
  /** Threads that process prompts; 0: all. */
  batchThreads: number;
  /** Most prompt tokens per step. */
  batchSize: number;
  placement: ModelVariant['placement'];
  signal: AbortSignal;
}

export interface LanguageModelsOptions {
  /** Context in tokens where neither the node nor the catalog says one. */
  defaultContext: number;
  threads: number;
  batchThreads: number;
  batchSize: number;
  /** How long an unused model stays in memory, in ms; 0: until close(). */
  idleMs: number;
  log: ModelLog;
  /** Default: the library's. */
  load?: ((path: string, options: LoadOptions) => Promise<TextModel>) | undefined;
}

/** A holder's claim on a loaded language model. */
export interface LanguageModelPin {
  /** Catalog name. */
  readonly name: string;
  readonly model: TextModel;
  /** Context that the holder may use, in tokens. */
  readonly contextSize: number;
  /** Gives the claim up. Idempotent. */
  release(): void;
}

/** A model that is in memory, or on its way. */
interface Loaded {
  readonly name: string;
  /** The context that was asked for. */
  readonly contextSize: number;
  readonly model: Promise<TextModel>;
  readonly idle: IdleTimer;
}

/** The language models of a catalog. Each is loaded at its first use and shared; close() frees them all. */
export class LanguageModels {
  readonly #catalog: Catalog;
  readonly #options: LanguageModelsOptions;
  readonly #closing = new AbortController();
  readonly #loaded = new Set<Loaded>();
  /** Models that are being unloaded. */
  readonly #unloading = new Set<Promise<void>>();

  constructor(catalog: Catalog, options: LanguageModelsOptions) {
    this.#catalog = catalog;
    this.#options = options;
  }

  /** Names of the language models, in the catalog's order. The first is the default. */
  get names(): string[] {
    return this.#catalog.entries.filter((entry) => entry.model_type === 'llm').map(({ name }) => name);
  }

  /** Returns the catalog entry of a name, or of the default model. @throws UnknownLanguageModelError */
  entry(name: string | undefined): CatalogEntry {
    const wanted = name ?? this.names[0];
    const entry = wanted === undefined ? undefined : this.#catalog.find(wanted);
    if (entry?.model_type === 'llm') return entry;
    throw new UnknownLanguageModelError(name, entry, this.names);
  }

  /**
   * Loads a model, or shares one that is loaded with a context of that size or more. `contextSize`: default that of the
   * catalog, else `defaultContext`; at most the model's own. After a failed load, the next call tries again.
   * @throws UnknownLanguageModelError, ModelLoadError
   */
  async pin(name: string | undefined, contextSize?: number): Promise<LanguageModelPin> {
    const entry = this.entry(name);
    if (this.#closing.signal.aborted) throw this.#closed(entry.name);
    const located = this.#catalog.locate(entry);
    const { variant } = located;
    if (!located.present && variant.file === undefined) throw notDownloaded(entry.name, this.#catalog.file);
    const usual = variant.context_size ?? this.#options.defaultContext;
    const wanted = contextSize ?? usual;
    const known = [...this.#loaded].find(
      (loaded) => loaded.name === entry.name && loaded.contextSize >= wanted,
    );
    const loaded = known ?? this.#start(entry, located, Math.max(wanted, usual));
    const release = loaded.idle.hold();
    try {
      const model = await loaded.model;
      if (this.#closing.signal.aborted) throw this.#closed(entry.name);
      return { name: entry.name, model, contextSize: Math.min(wanted, model.facts.contextSize), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Frees the models after their pending generations are cancelled. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const loaded of [...this.#loaded]) this.#unload(loaded);
    await Promise.all(this.#unloading);
  }

  #start(entry: CatalogEntry, located: LocatedVariant, contextSize: number): Loaded {
    const { name } = entry;
    const { idleMs, log } = this.#options;
    const loaded: Loaded = {
      name,
      contextSize,
      model: this.#load(entry, located, contextSize),
      idle: new IdleTimer(idleMs, () => {
        log.info({ model: name }, 'model unloaded: nothing used it');
        this.#unload(loaded);
      }),
    };
    this.#loaded.add(loaded);
    loaded.model.catch(() => {
      loaded.idle.stop();
      this.#loaded.delete(loaded);
    });
    return loaded;
  }

  #unload(loaded: Loaded): void {
    loaded.idle.stop();
    this.#loaded.delete(loaded);
    const closing = loaded.model.then(
      (model) => model.close(),
      () => {},
    );
    this.#unloading.add(closing);
    void closing.finally(() => this.#unloading.delete(closing)).catch(() => {});
  }

  async #load(
    entry: CatalogEntry,
    { variant, path }: LocatedVariant,
    contextSize: number,
  ): Promise<TextModel> {
    const { load = LanguageModel.load, log, threads, batchThreads, batchSize } = this.#options;
    const { signal } = this.#closing;
    const started = performance.now();
    try {
      const { placement } = variant;
      await checkModelFile(path, variant, signal);
      const model = await load(path, { contextSize, threads, batchThreads, batchSize, placement, signal });
      const { contextSize: context, fingerprint, device } = model.facts;
      const ms = Math.round(performance.now() - started);
      log.info({ model: entry.name, path, contextSize: context, fingerprint, device, ms }, 'model loaded');
      return model;
    } catch (error) {
      log.error({ model: entry.name, path, err: error }, 'model not loaded');
      if (signal.aborted) throw this.#closed(entry.name);
      throw error instanceof LorekeepError ? this.#failure(entry.name, error) : error;
    }
  }

  #failure(model: string, cause: LorekeepError): ModelLoadError {
    const { code, message: reason } = cause;
    const told = `cannot be loaded (${code}); the server's log says why`;
    return new ModelLoadError(code, { model, file: this.#catalog.file, reason, told }, { cause });
  }

  #closed(model: string): ModelLoadError {
    return new ModelLoadError('CLOSED', { model, file: this.#catalog.file, reason: 'used after close()' });
  }
}

/** Most names in a message; `known` has all of them. */
const longestList = 8;

/** The catalog has no language model of a name, or none at all. `message` begins with "there is" or "model". */
export class UnknownLanguageModelError extends Error {
  override readonly name = 'UnknownLanguageModelError';
  readonly known: readonly string[];
  readonly nearest: string | undefined;

  constructor(name: string | undefined, other: CatalogEntry | undefined, known: readonly string[]) {
    const shown = JSON.stringify(name?.slice(0, 128));
    const nearest = name === undefined ? undefined : nearestName(name, known);
    const listed = known.slice(0, longestList).map((one) => JSON.stringify(one));
    const has = listed.length === 0 ? 'no language model (model_type "llm")' : listed.join(', ');
    if (name === undefined) super(`the server's catalog has ${has}`);
    else if (other !== undefined)
      super(`model ${shown} is of type ${other.model_type}; a language model is needed`);
    else
      super(
        `there is no language model ${shown}${didYouMean(nearest) || `; the server's catalog has ${has}`}`,
      );
    this.known = known;
    this.nearest = nearest;
  }
}
