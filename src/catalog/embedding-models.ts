import { EmbeddingModel, LorekeepError } from '../../lib/index.js';
import { configSchema, type ServerConfig } from '../config/schema.js';
import { fail, serverError } from '../protocol/errors.js';
import type { Catalog } from './catalog.js';
import { LoadedModel } from './loaded-model.js';
import type { CatalogEntry } from './schema.js';

/** Where it is told what was loaded and unloaded; a server's log is one. */
export interface ModelLog {
  info(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface EmbeddingModelOptions {
  /** Longest text in tokens where the catalog says nothing. */
  defaultContext: number;
  /** Threads that embed; 0: all that the process may use. */
  threads: number;
  /** How long a model that nothing uses stays in memory, in ms; 0: until close(). */
  idleMs: number;
}

/** What a config says about embedding models. */
export function embeddingModelOptions({
  engines,
  embedding_model_idle_timeout,
}: ServerConfig): EmbeddingModelOptions {
  const { embedding, n_threads_batch } = engines.llm_engine;
  return {
    defaultContext: embedding.default_n_ctx,
    threads: n_threads_batch,
    idleMs: embedding_model_idle_timeout * 1000,
  };
}

/** The embedding models in use: each is loaded once, on first use, stays while it is used, and is unloaded after a while. */
export class EmbeddingModels {
  readonly #catalog: Catalog;
  readonly #log: ModelLog;
  readonly #options: EmbeddingModelOptions;
  readonly #closing = new AbortController();
  readonly #models = new Map<string, Promise<LoadedModel>>();

  /** Default of `options`: what a config without fields says, and nothing is unloaded. */
  constructor(
    catalog: Catalog,
    log: ModelLog,
    options: EmbeddingModelOptions = { ...embeddingModelOptions(configSchema.parse({})), idleMs: 0 },
  ) {
    this.#catalog = catalog;
    this.#log = log;
    this.#options = options;
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

  /**
   * A model that is in memory: loads it, or shares a load that is under way; a failed one is tried again next time.
   * Hold it at once: what is not held is unloaded after a while.
   * @throws ModelLoadFailed
   */
  async load(entry: CatalogEntry): Promise<LoadedModel> {
    const known = this.#models.get(entry.name);
    const model = await (known ?? this.#firstLoad(entry));
    try {
      await model.inMemory();
      return model;
    } catch (error) {
      // Its file is another one now, and the new one is loaded under the same name.
      if (this.#models.get(entry.name) === known) throw error;
      return this.load(entry);
    }
  }

  /** Gives up loads that are under way and waits for pending work of the others. */
  async close(): Promise<void> {
    this.#closing.abort();
    const models = await Promise.allSettled(this.#models.values());
    await Promise.all(
      models.map((model) => (model.status === 'fulfilled' ? model.value.close() : undefined)),
    );
  }

  #firstLoad(entry: CatalogEntry): Promise<LoadedModel> {
    const forget = () => {
      if (this.#models.get(entry.name) === loading) this.#models.delete(entry.name);
    };
    const loading: Promise<LoadedModel> = this.#open(entry).then(
      (model) =>
        new LoadedModel(model, entry, {
          reload: () => this.#open(entry),
          idleMs: this.#options.idleMs,
          onUnloaded: () => this.#log.info({ model: entry.name }, 'model unloaded: nothing used it'),
          onChanged: forget,
        }),
    );
    this.#models.set(entry.name, loading);
    loading.catch(forget);
    return loading;
  }

  async #open(entry: CatalogEntry): Promise<EmbeddingModel> {
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
        contextSize: variant.context_size ?? this.#options.defaultContext,
        threads: this.#options.threads,
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
      return model;
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
    `model ${JSON.stringify(model)}: cannot be loaded (${reason}); the server's log says why`,
    { model, reason },
    { cause },
  );
}
