import { z } from 'zod';
import { boolean, choice, fieldFacts, integer, object } from './field-types.js';

const generation = { later: 'generation' } as const;
const scheduling = { later: 'the scheduler' } as const;

/** How one class of consumers shares a model with the others. */
function consumerClass(quantum: number, scaling: boolean, pause: number) {
  return object({
    prefill_quantum_tokens: integer(1, 1_048_576)
      .default(quantum)
      .describe("Tokens of a prompt processed at a time; the device's n_batch is the most.")
      .register(fieldFacts, scheduling),
    contention_scaling: boolean()
      .default(scaling)
      .describe('Divide that by the number of prompts that compete for the model, not below 64.')
      .register(fieldFacts, scheduling),
    max_pause_ms: integer(0, 60_000)
      .default(pause)
      .describe('Longest pause between generated tokens, at throttle level 1.')
      .register(fieldFacts, scheduling),
  }).prefault({});
}

const scheduler = object({
  enabled: boolean()
    .default(true)
    .describe('Whether agents take turns at a model.')
    .register(fieldFacts, scheduling),
  prefill_yield_enabled: boolean()
    .default(true)
    .describe('Whether prompts are processed in chunks, so that agents interleave.')
    .register(fieldFacts, scheduling),
  prefill_quantum_tokens: integer(1, 1_048_576)
    .default(512)
    .describe('Chunk size where no block of a class applies.')
    .register(fieldFacts, scheduling),
  interactive_visible: consumerClass(256, true, 10),
  interactive_buffered: consumerClass(512, false, 50),
  background: consumerClass(128, true, 50),
}).prefault({});

/** `engines.llm_engine`: what runs models. */
export const llmEngineSchema = object({
  backend: choice('auto', 'cuda', 'vulkan', 'hip', 'cpu')
    .default('auto')
    .describe('The GPU plugin. Embedding runs on the CPU in this version.')
    .register(fieldFacts, { flag: '--llm-backend <value>', later: 'GPU plugins', holdsFor: ['auto', 'cpu'] }),
  n_threads: integer(0, 1024)
    .default(0)
    .describe('Threads that generate; 0: all that the process may use.')
    .register(fieldFacts, generation),
  n_threads_batch: integer(0, 1024)
    .default(0)
    .describe('Threads that embed texts and process prompts; 0: all that the process may use.'),
  inference: object({
    default_n_ctx: integer(1, 1_048_576)
      .default(8192)
      .describe('Context in tokens where neither the node nor the catalog says one.')
      .register(fieldFacts, generation),
    n_batch: integer(1, 1_048_576)
      .default(512)
      .describe('Tokens of a prompt that the device takes at once.')
      .register(fieldFacts, generation),
    offload_kqv: boolean()
      .default(true)
      .describe('Whether the KQV buffers are on the device.')
      .register(fieldFacts, generation),
    scheduler,
  }).prefault({}),
  embedding: object({
    default_n_ctx: integer(1, 1_048_576)
      .default(512)
      .describe(
        "Longest text in tokens for embedding models whose catalog entry has no `context_size`; at most the model's own.",
      ),
  }).prefault({}),
  n_gpu_layers: z
    .unknown()
    .optional()
    .describe("Deprecated and ignored: what is offloaded follows from each model's placement.")
    .register(fieldFacts, { deprecated: true }),
});
