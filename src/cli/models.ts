import { resolve } from 'node:path';
import { LorekeepError } from '../../lib/index.js';
import { Catalog } from '../catalog/catalog.js';
import { EmbeddingModels, embeddingModelOptions } from '../catalog/embedding-models.js';
import type { LoadedModel } from '../catalog/loaded-model.js';
import type { ServerConfig } from '../config/schema.js';
import { silentLog } from '../log/log.js';
import { didYouMean, nearestName } from '../schema/nearest.js';
import type { ModelFlags } from './commands/model-flags.js';
import { requireFile } from './knowledge-base-file.js';
import { warn } from './output.js';
import { findConfig } from './server-config.js';

/** The embedding models of the catalog that the server would use, or of another one. */
export class CommandModels implements AsyncDisposable {
  readonly catalogFile: string;
  readonly #models: EmbeddingModels;
  readonly #catalog: Catalog;
  /** Milliseconds that loading took. */
  loadMs = 0;

  private constructor(catalogFile: string, catalog: Catalog, config?: ServerConfig) {
    this.catalogFile = catalogFile;
    this.#catalog = catalog;
    this.#models = new EmbeddingModels(
      catalog,
      silentLog(),
      config && { ...embeddingModelOptions(config), idleMs: 0 },
    );
  }

  /** @throws StartupError, CommandError: the config or the catalog is absent or wrong */
  static async open({ catalog, config }: ModelFlags): Promise<CommandModels> {
    // A server runs without its config file; whoever names one here means a file that is there.
    if (config !== undefined) await requireFile(config, 'a server config');
    if (catalog !== undefined) await requireFile(catalog, 'a model catalog');
    const found = catalog === undefined ? (await findConfig(config)).config : undefined;
    const file = found?.models_catalog_path ?? resolve(catalog as string);
    const loaded = await Catalog.load(file);
    for (const warning of loaded.warnings) warn(warning);
    return new CommandModels(file, loaded, found);
  }

  /** For openKnowledgeBase(). @throws LorekeepError that says where the model was looked for */
  readonly resolve = async (name: string): Promise<LoadedModel> => {
    const entry = this.#models.find(name);
    if (entry === undefined) throw this.#unknown(name);
    const started = performance.now();
    try {
      return await this.#models.load(entry);
    } catch (error) {
      throw this.#loadFailure(name, error);
    } finally {
      this.loadMs += performance.now() - started;
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#models.close();
  }

  #unknown(name: string): LorekeepError {
    const file = this.catalogFile;
    const shown = JSON.stringify(name.slice(0, 128));
    const other = this.#catalog.find(name);
    const known = this.#models.names;
    const list =
      known.length === 0 ? 'no embedding model' : known.map((one) => JSON.stringify(one)).join(', ');
    const reason =
      other === undefined
        ? `there is no embedding model ${shown}${didYouMean(nearestName(name, known)) || `; it has ${list}`}`
        : `model ${shown} is of type ${other.model_type}; an embedding model is needed`;
    const remedy = 'correct embedding_model in the config, or name another catalog with --catalog';
    return new LorekeepError('INVALID_ARGUMENT', `${file}: ${reason} (${remedy})`, { file, known });
  }

  /** The server keeps paths from its clients; whoever sits at the machine needs them. */
  #loadFailure(name: string, thrown: unknown): LorekeepError {
    const file = this.catalogFile;
    const cause = (thrown as Error).cause;
    const known = cause instanceof LorekeepError ? cause : undefined;
    const reason = known?.message ?? (thrown as Error).message;
    const message = `model ${JSON.stringify(name)} of ${file}: ${reason}`;
    return new LorekeepError(known?.code ?? 'MODEL_INVALID', message, { file }, { cause: thrown });
  }
}
