import type { ServerConfig } from './schema.js';

/** Returns the options of CatalogModels from a config. */
export function embeddingOptions(config: ServerConfig) {
  return { ...textOptions(config), idleMs: config.embedding_model_idle_timeout * 1000 };
}

/** Returns the options of Rerankers from a config. */
export function rerankerOptions(config: ServerConfig) {
  return { ...textOptions(config), idleMs: config.reranker_idle_timeout * 1000 };
}

/** Returns the options of SpeechModels from a config. */
export function speechOptions({ engines, language_model_idle_timeout }: ServerConfig) {
  return { threads: engines.llm_engine.n_threads_batch, idleMs: language_model_idle_timeout * 1000 };
}

function textOptions({ engines }: ServerConfig) {
  const { embedding, n_threads_batch } = engines.llm_engine;
  return { defaultContext: embedding.default_n_ctx, threads: n_threads_batch };
}

/** Returns the options of LanguageModels from a config. */
export function languageModelOptions({ engines, language_model_idle_timeout }: ServerConfig) {
  const { inference, n_threads, n_threads_batch } = engines.llm_engine;
  return {
    defaultContext: inference.default_n_ctx,
    threads: n_threads,
    batchThreads: n_threads_batch,
    batchSize: inference.n_batch,
    offloadKqv: inference.offload_kqv,
    runtime: inference.runtime,
    kvCells: inference.kv_cells,
    kvCacheType: inference.kv_cache_type,
    idleMs: language_model_idle_timeout * 1000,
  };
}
