import { expect, it } from 'vitest';
import { languageModelOptions } from '../../src/config/model-options.js';
import { configSchema } from '../../src/config/schema.js';

/** What language models are loaded with, by a config with these fields of `engines.llm_engine`. */
const optionsOf = (llm_engine: object) =>
  languageModelOptions(configSchema.parse({ engines: { llm_engine } }));

it('n_threads decodes, and n_threads_batch processes prompts', () => {
  expect(optionsOf({ n_threads: 3, n_threads_batch: 5 })).toMatchObject({ threads: 3, batchThreads: 5 });
  expect(optionsOf({})).toMatchObject({ threads: 0, batchThreads: 0 });
});

it('default_n_ctx is the context where nothing else says one, and n_batch the largest step', () => {
  const inference = { default_n_ctx: 1234, n_batch: 99 };
  expect(optionsOf({ inference })).toMatchObject({ defaultContext: 1234, batchSize: 99 });
  expect(optionsOf({})).toMatchObject({ defaultContext: 8192, batchSize: 512 });
});

it('offload_kqv reaches the models', () => {
  expect(optionsOf({})).toMatchObject({ offloadKqv: true });
  expect(optionsOf({ inference: { offload_kqv: false } })).toMatchObject({ offloadKqv: false });
});

it('runtime and kv_cache_type reach the models', () => {
  expect(optionsOf({})).toMatchObject({ runtime: 'auto', kvCacheType: 'f16' });
  const inference = { runtime: 'decoder', kv_cache_type: 'q8_0' };
  expect(optionsOf({ inference })).toMatchObject({ runtime: 'decoder', kvCacheType: 'q8_0' });
  expect(() => optionsOf({ inference: { runtime: 'fast' } })).toThrow('llama.cpp');
  expect(() => optionsOf({ inference: { kv_cache_type: 'q4_0' } })).toThrow('q8_0');
});

it('kv_cells reaches the models; 0 stands for the context', () => {
  expect(optionsOf({})).toMatchObject({ kvCells: 0 });
  expect(optionsOf({ inference: { kv_cells: 20_000 } })).toMatchObject({ kvCells: 20_000 });
  expect(() => optionsOf({ inference: { kv_cells: -1 } })).toThrow('kv_cells');
});

it('n_batch is at most what a model can be loaded with', () => {
  expect(() => optionsOf({ inference: { n_batch: 65_537 } })).toThrow('65536');
});

it('language_model_idle_timeout is in seconds', () => {
  const config = configSchema.parse({ language_model_idle_timeout: 7 });
  expect(languageModelOptions(config)).toMatchObject({ idleMs: 7000 });
});
