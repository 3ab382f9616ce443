/** Said where a search or an answer has no record that is relevant enough. */
export const nothingRelevant = 'Nothing relevant found.';

/** Params of a `generate` node: without any record, a language model would answer from what it has learned. */
export const whenNothingIsFound = {
  on_no_knowledge: 'fallback',
  fallback: nothingRelevant,
  min_relevance: 0,
} as const;
