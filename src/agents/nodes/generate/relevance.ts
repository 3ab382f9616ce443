import { mapInTurns } from '../../../lifecycle/loop-turn.js';
import type { Knowledge } from '../../../protocol/components.js';
import type { KnowledgeSource } from '../../interaction.js';
import { sentenceScorers } from '../quote/scorer.js';

/**
 * Coefficients of a logistic regression, whether a record answers: docs/relevance.md. `relevance`: of the logarithm of its
 * odds; `words`: of the share of the query's weighted words in the record; `size`: of the logarithm of the number of
 * records, because the best of many shares some words by chance.
 */
const evidence = { constant: -1.8, relevance: 1.3, words: 10.5, size: -0.6 };

/** The relevance that counts as none: its odds have a logarithm. */
const noRelevance = 0.001;

/** Records of a storage from which on its size makes no difference: none larger was learned from. */
const largeStorage = 300;

/** Number of best records whose words are looked at. */
const best = 10;

/**
 * Returns the relevance of the best record, 0 to 1: as the searches estimate it, or, if that is more, the probability that the
 * record answers by that and by its words.
 */
export async function bestRelevance(
  knowledge: readonly Knowledge[],
  sources: ReadonlyMap<string, KnowledgeSource>,
): Promise<number> {
  const scorers = await sentenceScorers([...sources]);
  const probabilities = await mapInTurns(
    knowledge.slice(0, best),
    ({ node, text, relevance = 0 }) => {
      const words = scorers.get(node)?.score(text) ?? 0;
      return probability(relevance, words, sources.get(node)?.storage.size ?? largeStorage);
    },
    1,
  );
  const relevances = knowledge.map(({ relevance = 0 }) => relevance);
  return [...probabilities, ...relevances].reduce((most, each) => Math.max(most, each), 0);
}

function probability(relevance: number, words: number, size: number): number {
  const known = Math.min(Math.max(relevance, noRelevance), 1 - noRelevance);
  const odds =
    evidence.constant +
    evidence.relevance * Math.log(known / (1 - known)) +
    evidence.words * words +
    evidence.size * Math.log(Math.min(Math.max(size, 1), largeStorage) / largeStorage);
  return 1 / (1 + Math.exp(-odds));
}
