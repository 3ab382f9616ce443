import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { LorekeepError } from '../../lib/index.js';
import { homeFolder } from '../config/home.js';
import { StartupError } from '../config/startup-error.js';
import { didYouMean, nearestName } from '../schema/nearest.js';
import { Catalog } from './catalog.js';
import { type EmbeddingModelOptions, EmbeddingModels } from './embedding-models.js';
import type { LoadedModel } from './loaded-model.js';

/** The catalog of the package: lorekeep-mini, which comes with it, and models whose files are to be put beside it. */
const shippedCatalog = join(homeFolder, 'data', 'models.json');

/** What a reader of an error can do when the name is right. */
const defaultRemedy = 'correct embedding_model, or open another catalog';

const noLog = { info() {}, error() {} };

/**
 * The embedding models of a catalog file, for `openKnowledgeBase(path, { models })`. Each is loaded when it is first asked for,
 * and shared; close() frees them all.
 */
export class CatalogModels implements AsyncDisposable {
  /** Absolute path of the catalog. */
  readonly file: string;
  readonly #catalog: Catalog;
  readonly #models: EmbeddingModels;
  readonly #remedy: string;
  #closed = false;

  /** @internal Use CatalogModels.open(). `remedy`: what can be done about a name that the catalog does not have. */
  constructor(file: string, catalog: Catalog, options?: EmbeddingModelOptions, remedy = defaultRemedy) {
    this.file = file;
    this.#catalog = catalog;
    this.#models = new EmbeddingModels(catalog, noLog, options && { ...options, idleMs: 0 });
    this.#remedy = remedy;
  }

  /**
   * Reads a catalog; no model is loaded yet. Default: the one of the package, which has `lorekeep-mini`.
   * @throws LorekeepError: NOT_FOUND, INVALID_ARGUMENT with file, line, entry and what is expected
   */
  static async open(file: string = shippedCatalog): Promise<CatalogModels> {
    const path = resolve(file);
    try {
      await stat(path);
      return new CatalogModels(path, await Catalog.load(path));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') {
        const message = `${path}: the model catalog does not exist`;
        throw new LorekeepError('NOT_FOUND', message, { file: path }, { cause });
      }
      if (!(cause instanceof StartupError)) throw cause;
      throw new LorekeepError('INVALID_ARGUMENT', cause.message, { file: path }, { cause });
    }
  }

  /** Names of the embedding models, in the catalog's order. */
  get names(): string[] {
    return this.#models.names;
  }

  /** One sentence per key of the catalog that has no effect. */
  get warnings(): readonly string[] {
    return this.#catalog.warnings;
  }

  /**
   * The model of that name, in memory. It stays this object's.
   * @throws LorekeepError: INVALID_ARGUMENT for a name that there is none of, NOT_FOUND and others for its file; CLOSED
   */
  async resolve(name: string): Promise<LoadedModel> {
    if (this.#closed) throw new LorekeepError('CLOSED', 'CatalogModels: used after close()');
    const entry = this.#models.find(name);
    if (entry === undefined) throw this.#unknown(name);
    try {
      return await this.#models.load(entry);
    } catch (error) {
      throw this.#loadFailure(name, error);
    }
  }

  /** Frees the models, once what they are embedding is done. What was opened with them embeds no more queries. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#models.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #unknown(name: string): LorekeepError {
    const { file, names: known } = this;
    const shown = JSON.stringify(name.slice(0, 128));
    const other = this.#catalog.find(name);
    const list =
      known.length === 0 ? 'no embedding model' : known.map((one) => JSON.stringify(one)).join(', ');
    const reason =
      other === undefined
        ? `there is no embedding model ${shown}${didYouMean(nearestName(name, known)) || `; it has ${list}`}`
        : `model ${shown} is of type ${other.model_type}; an embedding model is needed`;
    return new LorekeepError('INVALID_ARGUMENT', `${file}: ${reason} (${this.#remedy})`, { file, known });
  }

  /** The server keeps paths from its clients; whoever sits at the machine needs them. */
  #loadFailure(name: string, thrown: unknown): LorekeepError {
    const { file } = this;
    const cause = (thrown as Error).cause;
    const known = cause instanceof LorekeepError ? cause : undefined;
    const reason = known?.message ?? (thrown as Error).message;
    const message = `model ${JSON.stringify(name)} of ${file}: ${reason}`;
    return new LorekeepError(known?.code ?? 'MODEL_INVALID', message, { file }, { cause: thrown });
  }
}
