import { mapInTurns } from '../../../lifecycle/loop-turn.js';
import type { Knowledge } from '../../../protocol/components.js';
import type { KnowledgeSource } from '../../interaction.js';
import { sentenceScorers } from '../quote/scorer.js';

/** Storages with fewer records have too few others to tell a near record by: docs/relevance.md. */
const fewRecords = 50;

/**
 * Returns the relevance of the best record, 0 to 1, as the searches estimate it. In a storage of few records it is the share
 * of the query's weighted words in the record, if that is more.
 */
export async function bestRelevance(
  knowledge: readonly Knowledge[],
  sources: ReadonlyMap<string, KnowledgeSource>,
): Promise<number> {
  const scorers = await sentenceScorers([...sources].filter(([, { storage }]) => storage.size < fewRecords));
  const relevances = await mapInTurns(
    knowledge,
    ({ node, text, relevance = 0 }) => Math.max(relevance, scorers.get(node)?.score(text) ?? 0),
    1,
  );
  return relevances.reduce((best, each) => Math.max(best, each), 0);
}
