import { z } from 'zod';

/** What frames tell of models at work. */

export const finishSchema = z.enum(['stop', 'stop_string', 'length', 'context', 'cancelled', 'deadline']);

export const usageSchema = z.object({
  prompt: z.int().describe('Tokens of the prompts.'),
  cached: z.int().describe('Tokens of the prompts that were not computed again.'),
  completion: z.int().describe('Generated tokens, thinking included.'),
});

const droppedSchema = z.object({
  history_turns: z.int().describe('Oldest turns of the history left out of the prompt.'),
  knowledge: z.int().describe('Lowest-ranked knowledge left out of the prompt.'),
});

/** What the engine did to generate a reply. */
const generationDiagnosticsSchema = z.object({
  kind: z.literal('generation'),
  model: z.string().describe('Catalog name.'),
  fingerprint: z.string().describe('Fingerprint of the model file, hexadecimal.'),
  device: z.string().describe('Device that computes.'),
  runtime: z.string().describe('What computes there: `llama.cpp` or `decoder`.'),
  class: z
    .enum(['interactive_visible', 'interactive_buffered', 'background'])
    .describe('Class of the scheduler.'),
  context_size: z.int().describe('Context of this node, in tokens.'),
  prepare_ms: z.number().describe('Rendering, counting and fitting the prompt.'),
  queue_ms: z.number().describe('Waiting for the model.'),
  prefill_ms: z.number().describe('Computing the prompt.'),
  prefill_tokens: z.int().describe('Tokens of the prompt that were computed.'),
  reused_tokens: z.int().describe('Tokens of the prompt that were in the cache.'),
  prefill_chunks: z.int().describe('Steps that computed the prompt.'),
  decode_ms: z.number().describe('From the first token to the last.'),
  decode_tokens: z.int().describe('Generated tokens.'),
  drafted_tokens: z.int().describe('Tokens that prompt lookup suggested.'),
  accepted_tokens: z.int().describe('Suggested tokens that the model agreed with: each saved a step.'),
  longest_gap_ms: z.number().describe('Longest time between two tokens.'),
  paused_ms: z.number().describe('Pauses for a throttle, inside the times above.'),
  other_ms: z.number().describe("The rest of the node's time."),
  dropped: droppedSchema.describe('What did not fit into the prompt.'),
  finish: finishSchema.describe('Why the reply ended.'),
  seed: z.number().describe('Seed of the sampling.'),
});

export const dryRunSchema = z.object({
  node: z.string().describe('Id of the `generate` node.'),
  tokens: z
    .object({
      system: z.int().describe('The system text.'),
      history: z.int().describe('Earlier turns.'),
      knowledge: z.int().describe('Records.'),
      prompt: z.int().describe('The last user message, without knowledge.'),
      template: z.int().describe("The chat template's own tokens."),
      total: z.int().describe('Sum of the above: the whole prompt.'),
      reserved: z.int().describe('Tokens kept for the reply.'),
      context: z.int().describe("The node's context."),
    })
    .describe('Tokens of the parts of the prompt.'),
  dropped: droppedSchema.describe('What did not fit into the prompt.'),
  messages: z
    .array(
      z.object({
        role: z.enum(['system', 'user', 'assistant']).describe('Who speaks.'),
        content: z.string().describe('The text.'),
      }),
    )
    .optional()
    .describe('Only for agents with `enable_diagnostics`, and with `include_interaction_in_diagnostics`.'),
});

/** What the engine did to search. */
const retrievalDiagnosticsSchema = z.object({
  kind: z.literal('retrieval'),
  mode: z.enum(['dense', 'lexical', 'hybrid']).describe('The mode of the search.'),
  model: z.string().describe("Catalog name of the storage's embedding model."),
  fingerprint: z.string().describe('Fingerprint of the model file, hexadecimal.'),
  backend: z
    .string()
    .optional()
    .describe('Names of the backend and its device; absent if nothing was embedded.'),
  dimension: z.int().describe('Dimension of the embeddings.'),
  context_size: z.int().describe('Longest text, in tokens.'),
  tokens: z.int().describe('Tokens embedded for this node; 0 in lexical mode.'),
  batches: z.int().describe('Number of batches.'),
  embed_ms: z.number().describe('Embedding the query.'),
  search_ms: z.number().describe('The search.'),
  other_ms: z.number().describe("The rest of the node's time."),
});

/** What the engine did to rerank. */
const rerankDiagnosticsSchema = z.object({
  kind: z.literal('rerank'),
  model: z.string().describe('Catalog name.'),
  documents: z.int().describe('Records given to the reranker.'),
  tokens: z.int().describe('Tokens computed.'),
  rerank_ms: z.number().describe('Loading the model, if it was not in memory, and ranking.'),
  other_ms: z.number().describe("The rest of the node's time."),
});

/** What the engine did for one node. It never holds text of a prompt, a query or a reply. */
export const engineDiagnosticsSchema = z.discriminatedUnion('kind', [
  retrievalDiagnosticsSchema,
  generationDiagnosticsSchema,
  rerankDiagnosticsSchema,
]);

export type EngineDiagnostics = z.output<typeof engineDiagnosticsSchema>;
export type RetrievalDiagnostics = z.output<typeof retrievalDiagnosticsSchema>;
export type GenerationDiagnostics = z.output<typeof generationDiagnosticsSchema>;
export type Finish = z.output<typeof finishSchema>;
export type Usage = z.output<typeof usageSchema>;
export type DryRun = z.output<typeof dryRunSchema>;
export type Dropped = z.output<typeof droppedSchema>;
