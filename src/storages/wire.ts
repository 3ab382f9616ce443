import type { MetadataValue, StorageHit } from '../../lib/index.js';
import type { Hit } from '../protocol/retrieval.js';

/** Converts a hit to its protocol form. */
export function wireHit(hit: StorageHit): Hit {
  const { id, text, metadata, rank, score, distance, bm25Score, denseRank, lexicalRank, snippet } = hit;
  const { denseScore, lexicalScore, relevance } = hit;
  return {
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
    relevance,
    snippet,
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
