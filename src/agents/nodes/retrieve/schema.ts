import { z } from 'zod';
import { asOfSchema } from '../../../protocol/as-of.js';
import { querySchema } from '../../../protocol/graph.js';
import {
  refuseIneffective,
  retrievalFields,
  retrievalPlanSchema,
  staleMark,
} from '../../../protocol/retrieval.js';
import type { NodeSchema } from '../../node-schema.js';

/** Diagnostics of the engine for a search. */
const engine = z.object({
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
  search_ms: z.number().describe('The search, including the wait for a thread. Its parts:'),
  filter_ms: z.number().describe('Applying the filter.'),
  dense_ms: z.number().describe('The leg by meaning. The legs may run at the same time.'),
  lexical_ms: z.number().describe('The leg by words.'),
  fusion_ms: z.number().describe('Fusing the legs.'),
  other_ms: z.number().describe("The rest of the node's time."),
});

export const schema = {
  type: 'retrieve',
  params: z
    .strictObject({
      embedded_string_storage: z
        .string()
        .describe('Name of a storage, or path of a knowledge base config inside the storage root.'),
      ...retrievalFields,
      query: querySchema,
      as_of: asOfSchema
        .optional()
        .describe(
          "A version of the storage, or the time of one: searches what it had then. The turn's `as_of` comes first. Default: the newest at each turn.",
        ),
      emit: z.boolean().default(false).describe('Whether TurnComplete has the hits of this node.'),
    })
    .superRefine(refuseIneffective),
  report: {
    embed_ms: z.number().optional().describe('Time to embed the query.'),
    search_ms: z.number().optional().describe('Time of the search.'),
    version: z.int().optional().describe('Version of the storage that was searched.'),
    plan: retrievalPlanSchema.optional().describe('How the search ran.'),
    stale: staleMark,
  },
  components: [],
  engine,
} as const satisfies NodeSchema;

export type RetrievalDiagnostics = z.output<typeof engine>;
export type RetrieveParams = z.output<typeof schema.params>;
