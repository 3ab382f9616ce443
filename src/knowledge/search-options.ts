import { type FusionOptions, LorekeepError, type StorageSearchOptions } from '../../lib/index.js';
import { checkOptionNames, type OptionNames } from './option-names.js';

export interface KnowledgeSearchOptions extends Omit<StorageSearchOptions, 'vector' | 'text'> {
  text: string;
  /** `topK` as configs and requests of the server spell it. One of the two. */
  top_k?: number | undefined;
}

const known: OptionNames<KnowledgeSearchOptions> = {
  text: true,
  mode: true,
  topK: true,
  top_k: true,
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
 * The options in the library's spelling.
 * @throws INVALID_ARGUMENT for a name that is none of a search's options, with the nearest; for both topK and top_k
 */
export function searchOptions(options: KnowledgeSearchOptions): Omit<KnowledgeSearchOptions, 'top_k'> {
  checkOptionNames(options, known, 'a search');
  const { rrf } = options;
  if (rrf !== undefined) checkOptionNames(rrf, knownFusion, 'a search', 'rrf.');
  if (rrf?.weights !== undefined) checkOptionNames(rrf.weights, knownWeights, 'a search', 'rrf.weights.');
  const { top_k, ...rest } = options;
  if (typeof rest.text !== 'string') {
    throw new LorekeepError('INVALID_ARGUMENT', "text: the query's text is expected", { argument: 'text' });
  }
  if (top_k === undefined) return rest;
  if (rest.topK !== undefined) {
    throw new LorekeepError('INVALID_ARGUMENT', 'topK and top_k are the same option: give one of them', {
      argument: 'top_k',
    });
  }
  return { ...rest, topK: top_k };
}
