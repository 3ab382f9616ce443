import { embeddingOptions, rerankerOptions } from '../config/model-options.js';
import type { PostgresConnections } from '../knowledge/postgres/connections.js';
import type { Catalog } from '../models/catalog.js';
import {
  type CatalogModel,
  CatalogModels,
  type MultilingualModel,
  type StoredDimension,
} from '../models/catalog-models.js';
import { type CatalogReranker, Rerankers } from '../models/rerankers.js';
import { Residency } from '../models/residency.js';
import { UnknownModelError } from '../models/unknown-model.js';
import { openCatalogAndConfig } from './catalog/open-catalog.js';
import { UsageError } from './failure.js';
import type { ModelFlags } from './flags/model.js';

const log = { info() {}, error() {} };

const remedy = 'correct embedding_model in the config, or name another catalog with --catalog';

/** The embedding models of the server's catalog, or of another one. */
export class CommandModels implements AsyncDisposable {
  readonly #models: CatalogModels;
  readonly catalog: Catalog;
  readonly #rerankers: Rerankers;
  /** Loading time in milliseconds. */
  loadMs = 0;

  private constructor(
    catalog: Catalog,
    models: CatalogModels,
    rerankers: Rerankers,
    /** Databases that the server's config declares. */
    readonly connections: PostgresConnections | undefined,
  ) {
    this.catalog = catalog;
    this.#rerankers = rerankers;
    this.#models = models;
  }

  /** @throws StartupError, UsageError if the config or the catalog is wrong or absent */
  static async open(flags: ModelFlags): Promise<CommandModels> {
    const { catalog, config, connections } = await openCatalogAndConfig(flags);
    // A command ends before a model could be unloaded.
    const options = config && { ...embeddingOptions(config), idleMs: 0 };
    const residency = new Residency(catalog, { log });
    const embedding = { ...options, remedy, buildFlags: catalog.commandFlags };
    const reranking = { defaultContext: 512, threads: 0, ...(config && rerankerOptions(config)), idleMs: 0 };
    return new CommandModels(
      catalog,
      new CatalogModels(catalog, embedding, residency),
      new Rerankers(residency, reranking),
      connections,
    );
  }

  /** For openKnowledgeBase(). @throws LorekeepError that names the catalog */
  readonly resolve = async (name: string, storedDimension?: StoredDimension): Promise<CatalogModel> => {
    const started = performance.now();
    try {
      return await this.#models.resolve(name, storedDimension);
    } finally {
      this.loadMs += performance.now() - started;
    }
  };

  /** The model for texts in many languages; undefined if there is none. */
  multilingual(): MultilingualModel | undefined {
    return this.#models.multilingual();
  }

  /** Flags of the same catalog for `lorekeep build`. */
  get buildFlags(): string | undefined {
    return this.#models.buildFlags;
  }

  /** Returns a reranker of the catalog by name, or the first. @throws CommandError for an unknown name */
  reranker(name: string | undefined): CatalogReranker {
    try {
      return this.#rerankers.find(name);
    } catch (error) {
      throw error instanceof UnknownModelError ? new UsageError(`--rerank: ${error.message}`) : error;
    }
  }

  /** Closes the rerankers, too: they have the same owner. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#models.close();
    await this.connections?.close();
  }
}
