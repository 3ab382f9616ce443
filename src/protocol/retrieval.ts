import { z } from 'zod';
import {
  ineffectiveOptions,
  type RankingFields,
  type ResultFields,
  searchOptions,
} from '../../lib/basics.js';
import { frameFields } from '../search/option-fields.js';

/** Description of `stale`, in requests and params. */
export const staleDescription =
  'If the files of a knowledge base have changed since it was loaded: `wait` for the new ones, or `serve` the loaded ones and mark the results.';

/** Marks results from files that have changed since. */
export const staleMark = z
  .literal(true)
  .optional()
  .describe('With `stale` `serve`: the files have changed since this build was loaded.');

/** How to search a storage: fields of the search request, and of the Retrieve node's params. */
export const retrievalFields = {
  ...frameFields<RankingFields & ResultFields>(searchOptions),
  stale: z.enum(['wait', 'serve']).default('wait').describe(staleDescription),
  rerank: z
    .strictObject({
      model: z
        .string()
        .min(1)
        .optional()
        .describe(
          'Catalog name of the reranker. Default: the first one of the catalog whose file is present.',
        ),
      candidates: z
        .int()
        .min(1)
        .max(1000)
        .optional()
        .describe(
          'Hits that the reranker sorts; the best `top_k` remain. Default: 4 x `top_k`, at least 20.',
        ),
      deadline_ms: z
        .int()
        .min(1)
        .max(600_000)
        .optional()
        .describe('Milliseconds after which the order of the search is used. Default: none.'),
    })
    .optional()
    .describe('Sorts the hits with a reranker: docs/concepts/relevance.md.'),
  highlight: z.boolean().default(false).describe('Adds `snippet` to the hits.'),
  filter: z.unknown().optional().describe('Predicate over the metadata: docs/reference/filters.md.'),
};

export const retrievalSchema = z.strictObject(retrievalFields);

export type Retrieval = z.output<typeof retrievalSchema>;

/** Refuses fields without effect in the mode that is given: for superRefine() of objects with the retrieval fields. */
export function refuseIneffective(retrieval: Omit<Retrieval, 'filter'>, context: z.RefinementCtx): void {
  const { mode } = retrieval;
  for (const { option, reason } of mode === undefined ? [] : ineffectiveOptions(mode, retrieval))
    context.addIssue({ code: 'custom', path: [option], message: reason });
}

const searchPlanSchema = z.object({
  path: z
    .enum(['exact', 'graph', 'cells'])
    .describe('Scan of all matching rows, walk of the HNSW graph, or scan of the nearest cells.'),
  matched: z.int().describe('Number of records that match the filter.'),
  visited: z.int().describe('Number of distances computed.'),
  exact: z.boolean().describe('Whether the hits are known to be the nearest ones.'),
});

/** How a search was run. */
export const retrievalPlanSchema = z.object({
  mode: z.enum(['dense', 'lexical', 'hybrid']).describe('The mode of the search.'),
  engine: z
    .enum(['postgres'])
    .optional()
    .describe("The database that ran it; absent for lorekeep's own indexes."),
  dense: searchPlanSchema.optional().describe('How the dense leg ran; absent in lexical mode.'),
  lexical: z
    .object({
      tokens: z.int().describe('Number of words of the query. 0: the lexical leg finds nothing.'),
      terms: z.int().describe('Number of distinct words of the query that occur in any record.'),
      scored: z.int().describe('Number of records scored.'),
    })
    .optional()
    .describe('How the lexical leg ran; absent in dense mode.'),
  fusion: z
    .object({
      method: z.enum(['rrf', 'scores']).describe('By ranks, or by normalised scores.'),
      weights: z
        .object({
          dense: z.number().describe('Weight of the dense leg.'),
          lexical: z.number().describe('Weight of the lexical leg.'),
        })
        .optional()
        .describe('Weights of the legs for this query, in the fusion by scores.'),
      feedback: z
        .object({
          weight: z.number().describe("Weight of the best hits' embeddings; the query's own has 1."),
          added: z.int().describe('Number of hits that the search would not have without feedback.'),
        })
        .optional()
        .describe('Of a search with feedback that found something relevant.'),
    })
    .optional()
    .describe('How the legs of a hybrid search were fused.'),
  rerank: z
    .object({
      model: z.string().describe('Catalog name.'),
      reranked: z.boolean().describe('false: the deadline passed, and the order of the search is used.'),
      documents: z.int().describe('Hits given to the reranker.'),
      truncated: z.int().describe('Hits truncated to fit the context.'),
      tokens: z.int().describe('Tokens computed.'),
      ms: z.number().describe('Time of the reranker.'),
    })
    .optional()
    .describe('How the hits were reranked.'),
});

export type RetrievalPlan = z.output<typeof retrievalPlanSchema>;

const contextRecordSchema = z.object({
  id: z.string().describe("The record's id."),
  text: z.string().describe("The record's text."),
});

/** Fields of a hit, in search replies and knowledge components. */
export const hitFields = {
  storage: z.string().optional().describe('In a search of several storages: the storage of the hit.'),
  id: z.string().describe("The record's id."),
  text: z.string().describe("The record's text."),
  rank: z.int().describe('Position among the hits, from 1.'),
  score: z.number().describe('Sort key: 1 - distance (dense), BM25 score (lexical) or fused score (hybrid).'),
  distance: z.number().optional().describe('Cosine distance, 0 to 2.'),
  bm25_score: z.number().optional().describe('BM25 score of the lexical leg; absent in dense mode.'),
  dense_rank: z.int().optional().describe('Position in the dense leg, from 1.'),
  lexical_rank: z.int().optional().describe('Position in the lexical leg, from 1.'),
  dense_score: z.number().optional().describe('Normalised score of the dense leg, 0 to 1: fusion by scores.'),
  lexical_score: z.number().optional().describe('Normalised score of the lexical leg, 0 to 1.'),
  rerank_score: z
    .number()
    .optional()
    .describe('Score of the reranker, which orders the hits; comparable for one model only.'),
  relevance: z
    .number()
    .optional()
    .describe('Estimated probability, 0 to 1, that the record is relevant; comparable between queries.'),
  snippet: z
    .array(
      z.object({
        text: z.string().describe('The piece.'),
        match: z.boolean().describe('Whether the query matches it.'),
      }),
    )
    .optional()
    .describe('With `highlight`: the part of the text with the most words of the query, in pieces.'),
  context: z
    .object({
      before: z.array(contextRecordSchema).describe('The records before it, in order.'),
      after: z.array(contextRecordSchema).describe('The records after it, in order.'),
    })
    .optional()
    .describe('With `context`: the records around it.'),
  metadata: z
    .record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.array(z.string())]))
    .optional()
    .describe('The metadata; integers beyond 2^53 as decimal strings.'),
};

export const hitSchema = z.object(hitFields);

export type Hit = z.output<typeof hitSchema>;
