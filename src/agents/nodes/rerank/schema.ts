import { z } from 'zod';
import { querySchema } from '../../../protocol/graph.js';
import type { NodeSchema } from '../../node-schema.js';

/** Diagnostics of the engine for a reranking. */
const engine = z.object({
  kind: z.literal('rerank'),
  model: z.string().describe('Catalog name.'),
  documents: z.int().describe('Records given to the reranker.'),
  tokens: z.int().describe('Tokens computed.'),
  rerank_ms: z.number().describe('Loading the model, if it was not in memory, and ranking.'),
  other_ms: z.number().describe("The rest of the node's time."),
});

export const schema = {
  type: 'rerank',
  params: z.strictObject({
    model: z
      .string()
      .min(1)
      .optional()
      .describe('Catalog name of the reranker. Default: the first one of the catalog whose file is present.'),
    top_k: z
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe('Maximum number of records that remain. Default: all.'),
    deadline_ms: z
      .int()
      .min(1)
      .max(600_000)
      .optional()
      .describe('Milliseconds after which the order so far is used. Default: none.'),
    query: querySchema,
  }),
  report: {
    reranked: z
      .boolean()
      .optional()
      .describe('Whether the records were sorted. False: the deadline passed, and the order so far is used.'),
    documents: z.int().optional().describe('Number of records given to the reranker.'),
    truncated: z.int().optional().describe('Number of records truncated to fit the context.'),
    rerank_tokens: z.int().optional().describe('Tokens computed.'),
    rerank_ms: z
      .number()
      .optional()
      .describe('Time to load the model, if it was not in memory, and to rank.'),
    dropped_records: z.int().optional().describe('Number of records beyond `top_k`.'),
  },
  components: [],
  engine,
} as const satisfies NodeSchema;

export type RerankDiagnostics = z.output<typeof engine>;
export type RerankParams = z.output<typeof schema.params>;
