import { refuseIneffective } from '../../lib/basics.js';
import {
  checkHighlight,
  type FusionOptions,
  type LexicalOptions,
  LorekeepError,
  type ScoreFusionOptions,
  type SearchMode,
  type StorageSearchOptions,
  searchModes,
} from '../../lib/internal.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import type { RerankOptions } from './rerank.js';
import type { ResultOptions } from './result-options.js';

export interface KnowledgeSearchOptions
  extends Omit<StorageSearchOptions, 'text' | 'mode' | 'calibration'>,
    ResultOptions {
  /** The query. A dense search with `vector` or `similarTo` does not use it: it may then be empty. */
  text: string;
  /** Default "hybrid"; "lexical" for a storage without a model, unless `vector` is given. */
  mode?: SearchMode | undefined;
  /** Sorts the hits with a reranker: docs/concepts/relevance.md. */
  rerank?: RerankOptions | undefined;
}

/** The options, checked and with their mode. */
export type CheckedSearchOptions = KnowledgeSearchOptions & { mode: SearchMode };

const known: OptionNames<KnowledgeSearchOptions> = {
  text: true,
  vector: true,
  mode: true,
  topK: true,
  threshold: true,
  ef: true,
  fusion: true,
  rrf: true,
  lexical: true,
  highlight: true,
  scores: true,
  minScore: true,
  filter: true,
  variables: true,
  rerank: true,
  offset: true,
  groupBy: true,
  groupSize: true,
  dropDuplicates: true,
  context: true,
  contextField: true,
  similarTo: true,
  signal: true,
};

const knownLexical: OptionNames<LexicalOptions> = {
  querySyntax: true,
  fuzziness: true,
  boosts: true,
  stopwords: true,
  synonyms: true,
};

const knownFusion: OptionNames<FusionOptions> = { k: true, weights: true, candidates: true };
const knownScores: OptionNames<ScoreFusionOptions> = { weight: true, adapt: true, candidates: true };
const knownWeights: OptionNames<NonNullable<FusionOptions['weights']>> = { dense: true, lexical: true };

/**
 * Checks the options of a search.
 * @throws INVALID_ARGUMENT for an unknown option, with the nearest name; for an option without effect
 * in the mode
 */
export function searchOptions(
  options: KnowledgeSearchOptions,
  defaultMode: SearchMode = 'hybrid',
): CheckedSearchOptions {
  checkOptionNames(options, known, 'a search');
  const { rrf, scores, lexical } = options;
  if (scores !== undefined) checkOptionNames(scores, knownScores, 'a search', 'scores.');
  if (lexical !== undefined) checkOptionNames(lexical, knownLexical, 'a search', 'lexical.');
  if (rrf !== undefined) checkOptionNames(rrf, knownFusion, 'a search', 'rrf.');
  if (rrf?.weights !== undefined) checkOptionNames(rrf.weights, knownWeights, 'a search', 'rrf.weights.');
  if (typeof options.text !== 'string') {
    throw new LorekeepError('INVALID_ARGUMENT', "text: the query's text is expected", { field: 'text' });
  }
  checkHighlight(options.highlight);
  const mode = options.mode ?? defaultMode;
  if (searchModes.includes(mode)) refuseIneffective(mode, options);
  return { ...options, mode };
}
