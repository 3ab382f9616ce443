import type { Knowledge } from '../../../protocol/components.js';
import type { KnowledgeSource } from '../../interaction.js';
import { SentenceScorer } from '../quote/scorer.js';

/** Storages with fewer records have too few others to tell a near record by: docs/relevance.md. */
const fewRecords = 50;

/**
 * Returns the relevance of the best record, 0 to 1, as the searches estimate it. In a storage of few records it is the share
 * of the query's weighted words in the record, if that is more.
 */
export function bestRelevance(
  knowledge: readonly Knowledge[],
  sources: ReadonlyMap<string, KnowledgeSource>,
): number {
  const scorers = new Map(
    [...sources]
      .filter(([, { storage }]) => storage.size < fewRecords)
      .map(([node, source]) => [node, new SentenceScorer(source)]),
  );
  const relevances = knowledge.map(({ node, text, relevance = 0 }) =>
    Math.max(relevance, scorers.get(node)?.score(text) ?? 0),
  );
  return Math.max(0, ...relevances);
}
