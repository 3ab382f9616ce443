import type { Knowledge } from '../../../protocol/components.js';
import type { KnowledgeSource } from '../../interaction.js';
import { SentenceScorer } from '../quote/scorer.js';

/** Records looked at; those of lower ranks are less relevant. */
const mostRecords = 8;

/**
 * Returns the relevance of the best record for its query, 0 to 1: the share of the query's weighted words in the record, or
 * the cosine similarity if that is higher.
 */
export function bestRelevance(
  knowledge: readonly Knowledge[],
  sources: ReadonlyMap<string, KnowledgeSource>,
): number {
  const scorers = new Map([...sources].map(([node, source]) => [node, new SentenceScorer(source)]));
  const relevances = knowledge.slice(0, mostRecords).map(({ node, text, distance }) => {
    const shared = scorers.get(node)?.score(text) ?? 0;
    return distance === undefined ? shared : Math.max(shared, 1 - distance);
  });
  return Math.max(0, ...relevances);
}
