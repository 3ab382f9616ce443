import type { MetadataValue, StorageHit } from '../../lib/index.js';
import type { Hit } from '../protocol/retrieval.js';

/** A hit as clients see it. */
export function wireHit(hit: StorageHit): Hit {
  const { id, text, metadata, rank, score, distance, bm25Score, denseRank, lexicalRank } = hit;
  return {
    id,
    text,
    rank,
    score,
    distance,
    bm25_score: bm25Score,
    dense_rank: denseRank,
    lexical_rank: lexicalRank,
    metadata: metadata && wireMetadata(metadata),
  };
}

/** JSON has no integers beyond 2^53 that every reader keeps: those are sent as decimal strings. */
function wireMetadata(metadata: Record<string, MetadataValue>): NonNullable<Hit['metadata']> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? String(value) : value,
    ]),
  );
}
