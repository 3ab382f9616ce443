import { type FusionOptions, LorekeepError, type StorageSearchOptions } from '../../lib/index.js';
import { checkOptionNames, type OptionNames } from './option-names.js';

export interface KnowledgeSearchOptions extends Omit<StorageSearchOptions, 'vector' | 'text'> {
  text: string;
}

const known: OptionNames<KnowledgeSearchOptions> = {
  text: true,
  mode: true,
  topK: true,
  threshold: true,
  ef: true,
  rrf: true,
  filter: true,
  variables: true,
  signal: true,
};

const knownFusion: OptionNames<FusionOptions> = { k: true, weights: true, candidates: true };
const knownWeights: OptionNames<NonNullable<FusionOptions['weights']>> = { dense: true, lexical: true };

/**
 * Checks the options of a search.
 * @throws INVALID_ARGUMENT for a name that is none of a search's options, with the nearest
 */
export function searchOptions(options: KnowledgeSearchOptions): KnowledgeSearchOptions {
  checkOptionNames(options, known, 'a search');
  const { rrf } = options;
  if (rrf !== undefined) checkOptionNames(rrf, knownFusion, 'a search', 'rrf.');
  if (rrf?.weights !== undefined) checkOptionNames(rrf.weights, knownWeights, 'a search', 'rrf.weights.');
  if (typeof options.text !== 'string') {
    throw new LorekeepError('INVALID_ARGUMENT', "text: the query's text is expected", { field: 'text' });
  }
  return options;
}
