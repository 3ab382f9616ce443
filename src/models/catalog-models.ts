import { resolve } from 'node:path';
import { EmbeddingModel, LorekeepError, type ModelFacts } from '../../lib/internal.js';
import { shellWord } from '../base/schema/shell-word.js';
import { closeIfFailed } from '../base/waiting/close-if-failed.js';
import { type ModelFusion, modelFusion } from '../search/model-fusion.js';
import { Catalog, type LocatedVariant } from './catalog.js';
import { expectedDevice } from './expected-device.js';
import type { Lease } from './lease.js';
import { ModelLoadError } from './model-load-error.js';
import type { MemoryNeed, ModelMemory } from './model-memory.js';
import { embeddingNeed, embeddingTaken } from './model-need.js';
import type { ModelLog } from './open-model.js';
import type { Opener } from './opener.js';
import { pullCommand } from './pull-command.js';
import {
  type ModelProbe,
  RemoteEmbeddingModel,
  type RemoteEmbeddingOptions,
} from './remote/embedding-model.js';
import { remoteNeed } from './remote/need.js';
import { openServer } from './remote/open-remote.js';
import { RemoteModelError } from './remote/remote-model-error.js';
import type { RemoteSettings } from './remote/settings.js';
import { Residency } from './residency.js';
import type { Resident } from './resident.js';
import type { CatalogEntry, Placement } from './schema.js';
import { shippedCatalog, shippedDownloads } from './shipped-catalog.js';
import { whyUnknown } from './unknown-model.js';

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

/** An embedding model that is computed here or by another server. */
export type CatalogEmbedder = EmbeddingModel | RemoteEmbeddingModel;

/** An embedding model with its catalog entry. It may leave memory; a lease brings it back. */
export class CatalogModel {
  readonly name: string;
  /** Facts of the first load. */
  readonly facts: ModelFacts;
  readonly dimension: number;
  readonly queryPrefix: string;
  readonly documentPrefix: string;
  /** The catalog's fusion settings for the model. */
  readonly fusion: ModelFusion | undefined;
  /** Whether its facts are those of stored vectors, because its server did not answer. */
  readonly isUnasked: boolean;
  readonly #resident: Resident<CatalogEmbedder>;

  /** @internal Use CatalogModels.resolve(). */
  constructor(
    entry: CatalogEntry,
    facts: ModelFacts,
    resident: Resident<CatalogEmbedder>,
    isUnasked: boolean,
  ) {
    this.name = entry.name;
    this.facts = facts;
    this.dimension = facts.dimension;
    this.queryPrefix = entry.query_prefix;
    this.documentPrefix = entry.document_prefix;
    this.fusion = entry.fusion && modelFusion(entry.fusion);
    this.isUnasked = isUnasked;
    this.#resident = resident;
  }

  /** Keeps the model from being unloaded for idleness until the result is called, which is idempotent. */
  hold(): () => void {
    return this.#resident.hold();
  }

  /** Loads the model if it is not in memory, and keeps it there. @throws ModelLoadError; the signal's reason */
  lease(signal?: AbortSignal): Promise<Lease<CatalogEmbedder>> {
    return this.#resident.lease(signal);
  }
}

/** A model that knows many languages. */
export interface MultilingualModel {
  name: string;
  /** Whether its file is on this machine. */
  present: boolean;
  /** The command that downloads it; undefined if nothing says where it is. */
  command: string | undefined;
}

/** Returns the dimension of the vectors that a model is wanted for; undefined if there are none. */
export type StoredDimension = () => Promise<number | undefined>;

/** Longest time in ms for which stored vectors wait for the server of their model. */
export const soonMs = 5000;

interface LoadOptions {
  signal?: AbortSignal | undefined;
  dimension?: number | undefined;
}

/** A model, known from its first load on. */
interface Known {
  readonly resident: Resident<CatalogEmbedder>;
  model?: CatalogModel;
}

/**
 * The embedding models of a catalog file, for `openKnowledgeBase(path, { models })`. Each is loaded at its first use and
 * shared; close() frees them all.
 */
export class CatalogModels implements AsyncDisposable, Disposable {
  readonly #catalog: Catalog;
  readonly #options: CatalogModelsOptions;
  readonly #residency: Residency;
  readonly #models = new Map<string, Known>();
  readonly #probes = new Map<string, ModelProbe>();

  /** @internal Use CatalogModels.open(). `residency`: shared with other models, and closed with this object. */
  constructor(catalog: Catalog, options: Partial<CatalogModelsOptions> = {}, residency?: Residency) {
    this.#catalog = catalog;
    this.#options = { ...defaultOptions, ...options };
    this.#residency = residency ?? new Residency(catalog, this.#options);
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
    const catalog = await Catalog.load(
      resolve(file),
      file === shippedCatalog ? shippedDownloads() : undefined,
    );
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

  /** The model for texts in many languages: the first that is present, else the first that can be downloaded; undefined if there is none. */
  multilingual(): MultilingualModel | undefined {
    const all = this.#catalog.entries.filter(
      ({ model_type, multilingual }) => model_type === 'embedding' && multilingual,
    );
    const facts = all.map((entry) => ({
      name: entry.name,
      present: this.#catalog.locate(entry).present,
      command:
        this.#catalog.downloadable(entry) === undefined ? undefined : pullCommand(this.#catalog, entry.name),
    }));
    return facts.find(({ present }) => present) ?? facts.find(({ command }) => command) ?? facts[0];
  }

  /** One sentence per key of the catalog without effect. */
  get warnings(): readonly string[] {
    return this.#catalog.warnings;
  }

  /** @internal Returns the catalog entry of an embedding model. @throws INVALID_ARGUMENT for an unknown name */
  entry(name: string): CatalogEntry {
    const entry = this.#catalog.find(name);
    if (entry?.model_type === 'embedding') return entry;
    const { reason, known, nearest } = whyUnknown('embedding', name, entry, this.names);
    const { file } = this;
    const { remedy } = this.#options;
    const detail = { file, field: 'embedding_model', reason, remedy, known, nearest };
    throw new LorekeepError('INVALID_ARGUMENT', `${file}: ${reason} (${remedy})`, detail);
  }

  /**
   * Returns a model by name, after loading it. This object owns it and unloads it after `idleMs` unless it is held. After a
   * failed load, the next call tries again. `storedDimension`: the dimension of vectors of the model. With it, a remote model whose
   * server does not answer now is returned all the same, and asks its server when it embeds.
   * @throws LorekeepError: INVALID_ARGUMENT for an unknown name, ModelLoadError, CLOSED
   */
  async resolve(name: string, storedDimension?: StoredDimension): Promise<CatalogModel> {
    const entry = this.entry(name);
    if (storedDimension === undefined || this.#catalog.locate(entry).variant.remote === undefined)
      return this.#loaded(entry);
    const soon = AbortSignal.timeout(soonMs);
    try {
      return await this.#loaded(entry, { signal: soon });
    } catch (error) {
      const isLate = soon.aborted && error === soon.reason;
      if (!isLate && !(error instanceof RemoteModelError && error.isOutage)) throw error;
      const dimension = await storedDimension();
      if (dimension === undefined && !isLate) throw error;
      return await this.#loaded(entry, { dimension });
    }
  }

  /** `dimension`: that of a remote model whose server is not asked. */
  async #loaded(entry: CatalogEntry, { signal, dimension }: LoadOptions = {}): Promise<CatalogModel> {
    const key = JSON.stringify([entry.name, dimension]);
    const known = this.#models.get(key) ?? {
      resident: this.#residency.resident(this.#opener(entry, dimension)),
    };
    this.#models.set(key, known);
    try {
      using lease = await known.resident.lease(signal);
      known.model ??= new CatalogModel(entry, lease.model.facts, known.resident, dimension !== undefined);
      return known.model;
    } catch (error) {
      if (!(error instanceof ModelLoadError) || error.why !== 'CHANGED') throw error;
      // The file was replaced: load the new one under the same name.
      if (this.#models.get(key) === known) this.#models.delete(key);
      return this.#loaded(entry, { signal, dimension });
    }
  }

  /** Frees the models after their pending embeddings. Storages opened with them can no longer embed queries. */
  close(): Promise<void> {
    return this.#residency.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For `using`: closes without waiting for it, and drops its errors. */
  [Symbol.dispose](): void {
    this.close().catch(() => {});
  }

  #opener(entry: CatalogEntry, stored: number | undefined): Opener<CatalogEmbedder> {
    const { threads, idleMs } = this.#options;
    return {
      entry,
      idleMs,
      open: (file, placement, signal) => this.#open(entry, file, { placement, stored, signal }),
      need: (file, placement) => this.#need(entry, file, placement),
      taken: (model, need) =>
        model instanceof RemoteEmbeddingModel ? need : embeddingTaken(model.facts, threads),
    };
  }

  async #need(
    entry: CatalogEntry,
    { path, variant: { remote } }: LocatedVariant,
    placement: Placement,
  ): Promise<MemoryNeed> {
    if (remote !== undefined) return remoteNeed(remote);
    const { threads, gpu } = this.#options;
    return embeddingNeed(path, threads, await expectedDevice(entry.model_type, placement, path, gpu));
  }

  async #open(
    { name, pooling, dimension }: CatalogEntry,
    { path, variant }: LocatedVariant,
    { placement, stored, signal }: { placement: Placement; stored: number | undefined; signal: AbortSignal },
  ): Promise<CatalogEmbedder> {
    const { threads, defaultContext } = this.#options;
    const { remote, context_size: contextSize = defaultContext } = variant;
    const model =
      remote === undefined
        ? await EmbeddingModel.load(path, { pooling, contextSize, threads, placement, signal })
        : await this.#openRemote(name, remote, { contextSize, dimension: stored, signal });
    const { dimension: found } = model.facts;
    const expected = dimension ?? found;
    if (expected === found) return model;
    await model.close();
    const reason = `embeddings of ${found} numbers; the catalog says ${expected}`;
    throw LorekeepError.about('DIMENSION_MISMATCH', { file: path, reason, expected, found });
  }

  async #openRemote(
    name: string,
    remote: RemoteSettings,
    options: RemoteEmbeddingOptions,
  ): Promise<RemoteEmbeddingModel> {
    const probe = this.#probes.get(name) ?? {};
    this.#probes.set(name, probe);
    const server = await openServer(this.#catalog, name, remote);
    return closeIfFailed(server, () => RemoteEmbeddingModel.open(server, { ...options, probe }));
  }
}
