import { z } from 'zod';
import { autoOrInteger, boolean, choice, fieldFacts, integer, object } from './field-types.js';

/** Returns the schema for one class of consumers that share a model. */
function consumerClass(quantum: number, scaling: boolean, pause: number) {
  return object({
    prefill_quantum_tokens: integer(1, 1_048_576)
      .default(quantum)
      .describe('Prompt tokens per step, at most `n_batch`.'),
    contention_scaling: boolean()
      .default(scaling)
      .describe('Divides the chunk by the number of competing prompts, down to 64 tokens.'),
    max_pause_ms: integer(0, 60_000)
      .default(pause)
      .describe('Longest pause after a step at throttle level 1, in ms. It scales with the level.'),
  }).prefault({});
}

const scheduler = object({
  enabled: boolean()
    .default(true)
    .describe('Lets agents take turns at a model. Without: first come, first served, and no pauses.'),
  prefill_yield_enabled: boolean()
    .default(true)
    .describe('Processes prompts in chunks so that agents interleave.'),
  prefill_quantum_tokens: integer(1, 1_048_576)
    .default(512)
    .describe('Chunk size of every class, in tokens, if the file sets it and has no block of a class.'),
  step_target_ms: autoOrInteger(0, 60_000)
    .default('auto')
    .describe(
      'Longest step while an interactive reply streams, in ms; prompts get smaller chunks. `"auto"`: three decode steps and 50 ms. 0: no limit.',
    )
    .register(fieldFacts, { extension: true }),
  interactive_visible: consumerClass(256, true, 10),
  interactive_buffered: consumerClass(512, false, 50),
  background: consumerClass(128, true, 50),
}).prefault({});

/** `engines.llm_engine`: settings for running models. */
export const llmEngineSchema = object({
  backend: choice('auto', 'cuda', 'vulkan', 'hip', 'cpu')
    .default('auto')
    .describe(
      'GPU plugin: `auto` takes CUDA, else Vulkan, else the CPU. A named backend that cannot be used is a warning, and an error at the start if the flag names it.',
    )
    .register(fieldFacts, { flag: '--llm-backend <value>' }),
  vram_reserve_mb: integer(0, 1_048_576)
    .default(0)
    .describe(
      'MiB of video memory that models leave free for other programs, such as a game. A model that does not fit into the rest runs on the CPU.',
    )
    .register(fieldFacts, { extension: true }),
  n_threads: integer(0, 1024)
    .default(0)
    .describe('Threads that generate tokens; 0: all available processors.'),
  n_threads_batch: integer(0, 1024)
    .default(0)
    .describe('Threads for embedding and prompt processing; 0: all available processors.'),
  inference: object({
    default_n_ctx: integer(1, 1_048_576)
      .default(8192)
      .describe(
        "Context of language models in tokens where neither the node nor the catalog has one, at most the model's own.",
      ),
    n_batch: integer(1, 65_536)
      .default(512)
      .describe('Maximum number of tokens that a language model computes in one step, on any device.'),
    offload_kqv: boolean()
      .default(true)
      .describe('Keeps the KQV buffers of a model on the GPU there, too; `false`: in main memory.'),
    runtime: choice('auto', 'llama.cpp', 'decoder')
      .default('auto')
      .describe(
        "Runtime of language models on the CPU: `decoder`, lorekeep's own runtime for common architectures; `llama.cpp`; or `auto`, the faster one by a measurement. A model that `decoder` cannot compute is not loaded with `decoder`.",
      )
      .register(fieldFacts, { extension: true }),
    kv_cells: integer(0, 1_048_576)
      .default(0)
      .describe(
        'Cells of the KV cache of a language model, one per token, shared by all agents: running requests, and prompts and replies that later turns continue. 0: as many as its context. Fewer than the context limit it.',
      )
      .register(fieldFacts, { extension: true }),
    kv_cache_type: choice('f16', 'q8_0')
      .default('f16')
      .describe(
        'Numbers of the KV cache: 16 bits, or 8 bits in half the memory, a little less exact. llama.cpp cannot compute some models with `q8_0`; they are not loaded then.',
      )
      .register(fieldFacts, { extension: true }),
    scheduler,
  }).prefault({}),
  embedding: object({
    default_n_ctx: integer(1, 1_048_576)
      .default(512)
      .describe(
        "Longest text in tokens for embedding models without `context_size` in the catalog, at most the model's own limit.",
      ),
  }).prefault({}),
  n_gpu_layers: z
    .unknown()
    .optional()
    .describe('Deprecated and ignored.')
    .register(fieldFacts, { deprecated: true }),
});
