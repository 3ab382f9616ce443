import { embeddingOptions, rerankerOptions } from '../config/model-options.js';
import type { Catalog } from '../models/catalog.js';
import { CatalogModels } from '../models/catalog-models.js';
import type { LoadedModel } from '../models/loaded-model.js';
import { type CatalogReranker, Rerankers, type RerankersOptions } from '../models/rerankers.js';
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
  readonly #rerankerOptions: RerankersOptions;
  #rerankers: Rerankers | undefined;
  /** Loading time in milliseconds. */
  loadMs = 0;

  private constructor(catalog: Catalog, models: CatalogModels, rerankers: RerankersOptions) {
    this.catalog = catalog;
    this.#rerankerOptions = rerankers;
    this.#models = models;
  }

  /** @throws StartupError, UsageError if the config or the catalog is wrong or absent */
  static async open(flags: ModelFlags): Promise<CommandModels> {
    const { catalog, config } = await openCatalogAndConfig(flags);
    // A command ends before a model could be unloaded.
    const options = config && { ...embeddingOptions(config), idleMs: 0 };
    const models = new CatalogModels(catalog, { ...options, remedy, buildFlags: catalog.commandFlags });
    const reranking = {
      defaultContext: 512,
      threads: 0,
      ...(config && rerankerOptions(config)),
      idleMs: 0,
      log,
    };
    return new CommandModels(catalog, models, reranking);
  }

  /** For openKnowledgeBase(). @throws LorekeepError that names the catalog */
  readonly resolve = async (name: string): Promise<LoadedModel> => {
    const started = performance.now();
    try {
      return await this.#models.resolve(name);
    } finally {
      this.loadMs += performance.now() - started;
    }
  };

  /** Flags of the same catalog for `lorekeep build`. */
  get buildFlags(): string | undefined {
    return this.#models.buildFlags;
  }

  /** Returns a reranker of the catalog by name, or the first. @throws CommandError for an unknown name */
  reranker(name: string | undefined): CatalogReranker {
    this.#rerankers ??= new Rerankers(this.catalog, this.#rerankerOptions);
    try {
      return this.#rerankers.find(name);
    } catch (error) {
      throw error instanceof UnknownModelError ? new UsageError(`--rerank: ${error.message}`) : error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rerankers?.close();
    await this.#models.close();
  }
}
