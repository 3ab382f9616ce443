import { type RerankOptions, rerankCandidates } from './rerank.js';
import { type ResultOptions, rankedHits } from './result-options.js';
import { weightedHits } from './score-factors.js';

/** Returns the maximum number of hits and context records that a search holds. @throws INVALID_ARGUMENT for wrong `rerank` */
export function maxHits(
  options: ResultOptions & { topK: number; rerank: RerankOptions | undefined },
): number {
  const { topK, offset, groupBy, dropDuplicates, context = 0, recency, importance, rerank } = options;
  const wanted = (recency ?? importance) === undefined ? topK : weightedHits(topK);
  const found =
    (offset ?? groupBy ?? dropDuplicates) === undefined ? Math.min(rankedHits, wanted + 1) : rankedHits;
  const sorted = rerank === undefined ? 0 : rerankCandidates(rerank, topK);
  return Math.max(found, sorted) + 2 * context * topK;
}
