import { resolve } from 'node:path';
import { Catalog } from '../catalog/catalog.js';
import { CatalogModels } from '../catalog/catalog-models.js';
import type { LoadedModel } from '../catalog/loaded-model.js';
import { type CatalogReranker, Rerankers, type RerankersOptions } from '../catalog/rerankers.js';
import { UnknownModelError } from '../catalog/unknown-model.js';
import { embeddingOptions, rerankerOptions } from '../config/model-options.js';
import { orStartupError } from '../config/startup-error.js';
import { givenFlags } from './catalog/open-catalog.js';
import { UsageError } from './failure.js';
import type { ModelFlags } from './flags/model.js';
import { requireFileOfFlag } from './knowledge-base-file.js';
import { warn } from './output.js';
import { findConfig } from './server-config.js';

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
  static async open({ catalog, config }: ModelFlags): Promise<CommandModels> {
    // A server runs without its config file, but a file named here must exist.
    if (config !== undefined) await requireFileOfFlag('--config', config, 'a server config');
    if (catalog !== undefined) await requireFileOfFlag('--catalog', catalog, 'a model catalog');
    const server = catalog === undefined ? await findConfig(config) : undefined;
    // For example a misspelt models_catalog_path: the model would come from another catalog.
    for (const warning of server?.warnings ?? []) warn(warning);
    const found = server?.config;
    const file = found?.models_catalog_path ?? resolve(catalog as string);
    const loaded = await orStartupError(Catalog.load(file, found?.models_download_dir));
    for (const warning of loaded.warnings) warn(warning);
    // A command ends before a model could be unloaded.
    const options = found && { ...embeddingOptions(found), idleMs: 0 };
    const buildFlags = givenFlags({ catalog, config });
    loaded.commandFlags = buildFlags;
    const reranking = {
      defaultContext: 512,
      threads: 0,
      ...(found && rerankerOptions(found)),
      idleMs: 0,
      log,
    };
    return new CommandModels(
      loaded,
      new CatalogModels(loaded, { ...options, remedy, buildFlags }),
      reranking,
    );
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
