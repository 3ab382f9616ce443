import { resolve } from 'node:path';
import { EmbeddingModel, LorekeepError } from '../../lib/internal.js';
import { didYouMean, nearestName } from '../base/schema/nearest.js';
import { shellWord } from '../base/schema/shell-word.js';
import { Catalog } from './catalog.js';
import { expectedDevice } from './expected-device.js';
import { GpuLoads } from './gpu-loads.js';
import { LoadedModel } from './loaded-model.js';
import type { MemoryNeed, ModelMemory } from './model-memory.js';
import { embeddingNeed, embeddingTaken } from './model-need.js';
import { ModelSlot } from './model-slot.js';
import { loadFailure, type ModelLog, openModel, refusal, unloadedMessages } from './open-model.js';
import type { CatalogEntry, ModelVariant } from './schema.js';
import { shippedCatalog } from './shipped-catalog.js';

export interface CatalogModelsOptions {
  /** Longest text in tokens for models whose catalog entry has no limit. */
  defaultContext: number;
  /** Embedding threads; 0: all that the process may use. */
  threads: number;
  /** How long an idle model stays in memory, in ms; 0: until close(). */
  idleMs: number;
  log: ModelLog;
  /** The budget that all models share. Default: none. */
  memory?: ModelMemory | undefined;
  /** Name of the GPU in use. Default: none. */
  gpu?: string | undefined;
  /** Advice in the error for a name that is not in the catalog. */
  remedy: string;
  /** Flags with which `lorekeep build` uses this catalog. */
  buildFlags?: string | undefined;
}

/** The values of a server without a config file. */
export const defaultOptions: CatalogModelsOptions = {
  defaultContext: 512,
  threads: 0,
  idleMs: 0,
  log: { info() {}, error() {} },
  remedy: 'correct embedding_model, or open another catalog',
};

/** Maximum number of names in a message; `detail` has all of them. */
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
  readonly #slots = new Set<ModelSlot<EmbeddingModel>>();
  readonly #gpu = new GpuLoads();
  /** Those of #models that have been loaded. */
  readonly #opened = new Map<string, LoadedModel>();

  /** @internal Use CatalogModels.open(). */
  constructor(catalog: Catalog, options: Partial<CatalogModelsOptions> = {}) {
    this.#catalog = catalog;
    this.#options = { ...defaultOptions, ...options };
  }

  /**
   * Reads a catalog without loading models. Default: the package's catalog, which has `all-MiniLM-L6-v2` and `lorekeep-mini`.
   * @throws LorekeepError: NOT_FOUND, IO, CORRUPT, INVALID_ARGUMENT with file, line, entry and expected value, or for
   * anything but a path
   */
  static async open(file: string = shippedCatalog): Promise<CatalogModels> {
    if (typeof file !== 'string' || file === '' || file.includes('\0')) {
      const reason = 'the path of a model catalog is expected';
      const remedy = "leave it out for the package's catalog";
      const message = `file: ${reason} (${remedy})`;
      throw new LorekeepError('INVALID_ARGUMENT', message, { field: 'file', reason, remedy });
    }
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
    return this.#catalog.namesOf('embedding');
  }

  /** Names of the embedding models that have a file on this machine, in the catalog's order. */
  get presentNames(): string[] {
    const isPresent = ({ variants }: CatalogEntry) =>
      variants.some((variant) => this.#catalog.pathOf(variant).present);
    const models = this.#catalog.entries.filter(({ model_type }) => model_type === 'embedding');
    return models.filter(isPresent).map(({ name }) => name);
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
    if (this.#closing.signal.aborted) throw refusal(this.file, name, 'CLOSED');
    const known = this.#models.get(name);
    const model = await (known ?? this.#firstLoad(entry));
    try {
      await model.inMemory();
      return model;
    } catch (error) {
      // The file was replaced: load the new one under the same name.
      if (this.#models.get(name) === known) throw loadFailure(this.file, name, error);
      return this.resolve(name);
    }
  }

  /** Frees the models after their pending embeddings. Storages opened with them can no longer embed queries. */
  async close(): Promise<void> {
    this.#closing.abort();
    const slots = [...this.#slots];
    await Promise.allSettled(this.#models.values());
    await Promise.all(slots.map((slot) => slot.close()));
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
    const { idleMs, log, memory } = this.#options;
    const forget = () => {
      if (this.#models.get(name) !== loading) return;
      this.#models.delete(name);
      this.#opened.delete(name);
    };
    const slot = new ModelSlot<EmbeddingModel>({
      name,
      idleMs,
      memory,
      gpu: this.#gpu,
      load: (signal) => this.#open(entry, signal),
      need: () => this.#need(entry),
      taken: (model) => embeddingTaken(model.facts, this.#options.threads),
      refuse: (why) => refusal(this.#catalog.file, name, why),
      onUnloaded: (why) => log.info({ model: name }, unloadedMessages[why]),
      onChanged: forget,
    });
    const loading: Promise<LoadedModel> = slot
      .inMemory()
      .then((model) => new LoadedModel(model, entry, slot))
      .catch((error: unknown) => {
        this.#slots.delete(slot);
        throw loadFailure(this.#catalog.file, name, error);
      });
    this.#slots.add(slot);
    this.#models.set(name, loading);
    loading.then((model) => this.#opened.set(name, model), forget);
    return loading;
  }

  async #need(entry: CatalogEntry): Promise<MemoryNeed> {
    const { threads, gpu, memory } = this.#options;
    const { path, variant } = this.#catalog.locate(entry);
    const allowed = this.#gpu.allowed ? gpu : undefined;
    const device = await expectedDevice(entry.model_type, variant.placement, path, allowed);
    const need = await embeddingNeed(path, threads, device);
    // The engine moves a model that a GPU cannot hold to the CPU, unless the catalog insists.
    return variant.placement === 'vram' || memory?.placeable(need) === need
      ? need
      : embeddingNeed(path, threads);
  }

  #open(entry: CatalogEntry, signal: AbortSignal): Promise<EmbeddingModel> {
    const { log, defaultContext } = this.#options;
    return openModel({ catalog: this.#catalog, entry, log, signal }, (path, variant) =>
      this.#load(path, entry, variant, variant.context_size ?? defaultContext, signal),
    );
  }

  async #load(
    path: string,
    entry: CatalogEntry,
    variant: ModelVariant,
    contextSize: number,
    signal: AbortSignal,
  ): Promise<EmbeddingModel> {
    const { threads } = this.#options;
    const placement = this.#gpu.allowed ? variant.placement : 'ram';
    const options = { pooling: entry.pooling, contextSize, threads, placement, signal };
    const model = await EmbeddingModel.load(path, options);
    const { dimension: found } = model.facts;
    const expected = entry.dimension ?? found;
    if (expected === found) return model;
    await model.close();
    const reason = `embeddings of ${found} numbers; the catalog says ${expected}`;
    throw LorekeepError.about('DIMENSION_MISMATCH', { file: path, reason, expected, found });
  }

  /**
   * @internal Moves every embedding model to the CPU, or lets later loads use the GPU again. Resolves when the video
   * memory is free.
   */
  async allowGpu(allowed: boolean): Promise<void> {
    if (allowed) return this.#gpu.allow();
    const leave = async (slot: ModelSlot<EmbeddingModel>) => {
      if (slot.current === undefined || slot.current.facts.device === 'CPU') return;
      await slot.current.leaveGpu();
      slot.account();
      await slot.unloadUnused(); // the next text waits for room in main memory
    };
    await Promise.all([this.#gpu.displace(), ...[...this.#slots].map(leave)]);
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
