import { EmbeddingModel, LorekeepError } from '../../lib/index.js';
import type { Log } from '../log/log.js';
import { fail, serverError } from '../protocol/errors.js';
import type { Catalog } from './catalog.js';
import { LoadedModel } from './loaded-model.js';
import type { CatalogEntry } from './schema.js';

/** The embedding models in use: each is loaded once, on first use, and stays until the server stops. */
export class EmbeddingModels {
  readonly #catalog: Catalog;
  readonly #log: Log;
  readonly #closing = new AbortController();
  readonly #models = new Map<string, Promise<LoadedModel>>();

  constructor(catalog: Catalog, log: Log) {
    this.#catalog = catalog;
    this.#log = log;
  }

  /** Names that load() accepts. */
  get names(): string[] {
    return this.#catalog.embeddingModels;
  }

  /** The catalog's entry of an embedding model, or undefined when there is none of that name and type. */
  find(name: string): CatalogEntry | undefined {
    const entry = this.#catalog.find(name);
    return entry?.model_type === 'embedding' ? entry : undefined;
  }

  /** Loads a model, or shares a load that is under way; a failed one is tried again next time. @throws ModelLoadFailed */
  load(entry: CatalogEntry): Promise<LoadedModel> {
    const known = this.#models.get(entry.name);
    if (known !== undefined) return known;
    const loading = this.#open(entry);
    this.#models.set(entry.name, loading);
    loading.catch(() => this.#models.delete(entry.name));
    return loading;
  }

  /** Gives up loads that are under way and waits for pending work of the others. */
  async close(): Promise<void> {
    this.#closing.abort();
    const models = await Promise.allSettled(this.#models.values());
    await Promise.all(
      models.map((model) => (model.status === 'fulfilled' ? model.value.close() : undefined)),
    );
  }

  async #open(entry: CatalogEntry): Promise<LoadedModel> {
    const variant = entry.variants.find(({ file }) => file !== undefined);
    if (variant?.file === undefined) {
      fail(
        5001,
        `model ${JSON.stringify(entry.name)}: it has no local file, and downloads are not there yet`,
        {
          model: entry.name,
        },
      );
    }
    const path = this.#catalog.resolveFile(variant.file);
    const started = performance.now();
    try {
      const { signal } = this.#closing;
      const model = await EmbeddingModel.load(path, {
        pooling: entry.pooling,
        contextSize: variant.context_size,
        signal,
      });
      const { dimension, contextSize, fingerprint } = model.facts;
      if (entry.dimension !== undefined && entry.dimension !== dimension) {
        await model.close();
        const expected = entry.dimension;
        throw new LorekeepError(
          'DIMENSION_MISMATCH',
          `${path}: embeddings of ${dimension} numbers; the catalog says ${expected}`,
          { path, expected, found: dimension },
        );
      }
      const took = Math.round(performance.now() - started);
      this.#log.info(
        { model: entry.name, path, dimension, contextSize, fingerprint, ms: took },
        'model loaded',
      );
      return new LoadedModel(model, entry);
    } catch (error) {
      this.#log.error({ model: entry.name, path, err: error }, 'model not loaded');
      throw loadFailure(entry.name, error);
    }
  }
}

function loadFailure(model: string, cause: unknown): Error {
  if (!(cause instanceof LorekeepError)) return cause as Error;
  if (cause.code === 'CANCELLED') return serverError(1008, 'the server is stopping', {}, { cause });
  if (cause.code === 'OUT_OF_MEMORY') return serverError(5003, cause.message, { model }, { cause });
  // The path is the operator's business: the log has it, the client gets the model's name and the kind of failure.
  const reason = cause.code;
  return serverError(
    5001,
    `model ${JSON.stringify(model)}: cannot be loaded (${reason})`,
    { model, reason },
    { cause },
  );
}
