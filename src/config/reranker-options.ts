import type { ServerConfig } from './schema.js';

/** Returns the options of Rerankers from a config. */
export function rerankerOptions({ engines, reranker_idle_timeout }: ServerConfig) {
  const { embedding, n_threads_batch } = engines.llm_engine;
  return {
    defaultContext: embedding.default_n_ctx,
    threads: n_threads_batch,
    idleMs: reranker_idle_timeout * 1000,
  };
}
