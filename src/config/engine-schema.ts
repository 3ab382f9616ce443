import { z } from 'zod';
import { boolean, choice, fieldFacts, integer, object } from './field-types.js';

const generation = { later: 'generation' } as const;
const scheduling = { later: 'the scheduler' } as const;

/** Returns the schema for one class of consumers that share a model. */
function consumerClass(quantum: number, scaling: boolean, pause: number) {
  return object({
    prefill_quantum_tokens: integer(1, 1_048_576)
      .default(quantum)
      .describe('Prompt tokens per step, at most `n_batch`.')
      .register(fieldFacts, scheduling),
    contention_scaling: boolean()
      .default(scaling)
      .describe('Divides the step by the number of competing prompts, down to 64 tokens.')
      .register(fieldFacts, scheduling),
    max_pause_ms: integer(0, 60_000)
      .default(pause)
      .describe('Longest pause between generated tokens at throttle level 1, in ms.')
      .register(fieldFacts, scheduling),
  }).prefault({});
}

const scheduler = object({
  enabled: boolean()
    .default(true)
    .describe('Lets agents take turns at a model.')
    .register(fieldFacts, scheduling),
  prefill_yield_enabled: boolean()
    .default(true)
    .describe('Processes prompts in chunks so that agents interleave.')
    .register(fieldFacts, scheduling),
  prefill_quantum_tokens: integer(1, 1_048_576)
    .default(512)
    .describe('Default chunk size, in tokens.')
    .register(fieldFacts, scheduling),
  interactive_visible: consumerClass(256, true, 10),
  interactive_buffered: consumerClass(512, false, 50),
  background: consumerClass(128, true, 50),
}).prefault({});

/** `engines.llm_engine`: settings for running models. */
export const llmEngineSchema = object({
  backend: choice('auto', 'cuda', 'vulkan', 'hip', 'cpu')
    .default('auto')
    .describe('GPU plugin. Embedding runs on the CPU in this version.')
    .register(fieldFacts, { flag: '--llm-backend <value>', later: 'GPU plugins', holdsFor: ['auto', 'cpu'] }),
  n_threads: integer(0, 1024)
    .default(0)
    .describe('Threads for generation; 0: all available processors.')
    .register(fieldFacts, generation),
  n_threads_batch: integer(0, 1024)
    .default(0)
    .describe('Threads for embedding and prompt processing; 0: all available processors.'),
  inference: object({
    default_n_ctx: integer(1, 1_048_576)
      .default(8192)
      .describe('Default context size, in tokens.')
      .register(fieldFacts, generation),
    n_batch: integer(1, 1_048_576)
      .default(512)
      .describe('Largest batch of prompt tokens.')
      .register(fieldFacts, generation),
    offload_kqv: boolean()
      .default(true)
      .describe('Keeps the KQV buffers on the GPU.')
      .register(fieldFacts, generation),
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
