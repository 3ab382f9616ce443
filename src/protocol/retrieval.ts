import { z } from 'zod';
import { fusionFields } from '../fusion/fields.js';

const { weight, k, candidates } = fusionFields;

/** Reciprocal rank fusion; what is absent comes from the model's catalog entry, then from the defaults. */
const fusionSchema = z.strictObject({
  k,
  weights: z
    .strictObject({ dense: weight, lexical: weight })
    .optional()
    .describe('Weights of the two legs. Default 1 each.'),
  candidates,
});

/** How a storage is searched: the Retrieve node's params but for the storage, and the search request's. */
export const retrievalFields = {
  mode: z.enum(['dense', 'lexical', 'hybrid']).default('dense').describe('By meaning, by words, or by both.'),
  top_k: z.int().min(1).max(1000).default(5).describe('Most hits that come back.'),
  threshold: z
    .number()
    .min(0)
    .max(2)
    .optional()
    .describe('Largest cosine distance of the dense leg; what only the lexical leg found is kept.'),
  rrf: fusionSchema.optional().describe('Fusion of the two legs in hybrid mode.'),
  filter: z
    .unknown()
    .optional()
    .describe('Which records may be found: a predicate over metadata (docs/filters.md).'),
};

const retrievalSchema = z.strictObject(retrievalFields);

export type Retrieval = z.output<typeof retrievalSchema>;

const searchPlanSchema = z.object({
  path: z
    .enum(['exact', 'graph', 'cells'])
    .describe(
      'All matching rows compared, the HNSW graph walked, or the groups of rows that may hold near ones.',
    ),
  matched: z.int(),
  visited: z.int().describe('Rows whose distance was computed.'),
  exact: z.boolean().describe('Whether the hits are certainly the nearest ones.'),
});

/** How a search was run. */
export const retrievalPlanSchema = z.object({
  mode: z.enum(['dense', 'lexical', 'hybrid']),
  dense: searchPlanSchema.optional(),
  lexical: z
    .object({
      tokens: z.int().describe('Words of the query. 0: it has none, and nothing can be found by words.'),
      terms: z.int().describe('Different words among them that occur in any record.'),
      scored: z.int().describe('Records whose score was computed.'),
    })
    .optional(),
});

export type RetrievalPlan = z.output<typeof retrievalPlanSchema>;

/** What every found record has, on a search's reply and on a knowledge component. */
export const hitFields = {
  id: z.string(),
  text: z.string(),
  rank: z.int().describe('Position among the hits, from 1.'),
  score: z
    .number()
    .describe('What the hits are ordered by: 1 - distance, BM25 score or fused score, by mode.'),
  distance: z.number().optional().describe('Cosine distance, 0 to 2.'),
  bm25_score: z.number().optional(),
  dense_rank: z.int().optional().describe('Position in the dense leg, from 1.'),
  lexical_rank: z.int().optional().describe('Position in the lexical leg, from 1.'),
  metadata: z
    .record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.array(z.string())]))
    .optional()
    .describe('Values of the fields; integers beyond 2^53 as decimal strings.'),
};

export const hitSchema = z.object(hitFields);

export type Hit = z.output<typeof hitSchema>;
