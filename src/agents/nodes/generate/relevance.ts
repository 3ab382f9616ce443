import { mapInSlices } from '../../../base/waiting/next-slice.js';
import { estimatedOdds } from '../../../knowledge/calibrate.js';
import type { Knowledge } from '../../../protocol/components.js';
import type { KnowledgeSource } from '../../interaction.js';
import { type SentenceScorer, sentenceScorers } from '../quote/scorer.js';

/**
 * Coefficients of a logistic regression for whether a record answers, fitted by tools/no-knowledge/fit.py (docs/concepts/relevance.md).
 * The inputs: `above`, the cosine on a scale from the query's floor to 1; `words`, the share of the query's weighted words in
 * the record; `relevance`, the logarithm of its odds; `size`, the logarithm of the number of records, because the best of many
 * records is near, or shares words, by chance.
 */
const byCosine = { constant: -7.69, above: 16.82, words: 2.9, size: -0.45 };
/** Coefficients for lexical searches. */
const byWords = { constant: -1.8, relevance: 1.3, words: 10.5, size: -0.6, largeStorage: 300 };

/** Bound of the log odds of a relevance: the log odds of 0.999, and negated of 0.001. */
const maxOdds = Math.log(999);

/** Larger storages count as this many records: the regression saw none that were larger. */
const largeStorage = 1200;

/** Minimum range of cosines above the floor: all records may be equal. */
const minRange = 0.05;

/** Number of best records considered. */
const best = 10;

/** Returns the probability, 0 to 1, that the best record answers: by its cosine and its words, or else by its relevance. */
export async function bestRelevance(
  knowledge: readonly Knowledge[],
  sources: ReadonlyMap<string, KnowledgeSource>,
): Promise<number> {
  const scorers = await sentenceScorers([...sources]);
  const probabilities = await mapInSlices(
    knowledge.slice(0, best),
    (record) => probability(record, sources.get(record.node), scorers.get(record.node)),
    1,
  );
  return probabilities.reduce((most, each) => Math.max(most, each), 0);
}

function probability(
  { text, relevance = 0, distance }: Knowledge,
  source: KnowledgeSource | undefined,
  scorer: SentenceScorer | undefined,
): number {
  const records = Math.max(source?.storage.size ?? largeStorage, 1);
  const sizeUpTo = (most: number) => Math.log(Math.min(records, most) / most);
  const words = scorer?.score(text) ?? 0;
  const floor = source?.cosineFloor;
  if (distance === undefined || floor === undefined) {
    const odds = estimatedOdds(relevance, source?.calibration);
    const estimated = source?.calibration === undefined ? relevance : fromOdds(odds);
    const { constant, size, largeStorage } = byWords;
    const answers = constant + byWords.relevance * limited(odds) + byWords.words * words;
    return Math.max(estimated, fromOdds(answers + size * sizeUpTo(largeStorage)));
  }
  const above = Math.min(Math.max((1 - distance - floor) / Math.max(1 - floor, minRange), 0), 1);
  return fromOdds(
    byCosine.constant +
      byCosine.above * above +
      byCosine.words * words +
      byCosine.size * sizeUpTo(largeStorage),
  );
}

const limited = (odds: number) => Math.min(Math.max(odds, -maxOdds), maxOdds);

/** Returns the probability with this logarithm of its odds. */
function fromOdds(logarithm: number): number {
  return 1 / (1 + Math.exp(-logarithm));
}
