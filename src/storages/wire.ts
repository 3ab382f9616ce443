import type { MetadataValue } from '../../lib/index.js';
import type { RerankFacts, SearchHit } from '../knowledge/index.js';
import type { Hit, RetrievalPlan } from '../protocol/retrieval.js';

/** Returns what reranking did, in protocol form. */
export function wireRerank(
  used: { model: { name?: string } } | undefined,
  { ms, ...facts }: RerankFacts,
): NonNullable<RetrievalPlan['rerank']> {
  return { model: used?.model.name ?? '', ...facts, ms: Math.round(ms * 1000) / 1000 };
}

/** Converts a hit to its protocol form. */
export function wireHit(hit: SearchHit & { storage?: string }): Hit {
  const { id, text, metadata, rank, score, distance, bm25Score, denseRank, lexicalRank, snippet } = hit;
  const { storage, denseScore, lexicalScore, relevance, rerankScore, context } = hit;
  return {
    storage,
    id,
    text,
    rank,
    score,
    distance,
    bm25_score: bm25Score,
    dense_rank: denseRank,
    lexical_rank: lexicalRank,
    dense_score: denseScore,
    lexical_score: lexicalScore,
    rerank_score: rerankScore,
    relevance,
    snippet,
    context,
    metadata: metadata && wireMetadata(metadata),
  };
}

/** Sends integers beyond 2^53 as decimal strings, because many JSON readers round them. */
function wireMetadata(metadata: Record<string, MetadataValue>): NonNullable<Hit['metadata']> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? String(value) : value,
    ]),
  );
}
