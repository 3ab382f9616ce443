import { LorekeepError, type StorageSearchOptions } from '../../lib/index.js';
import { didYouMean, nearestName } from '../schema/nearest.js';

export interface KnowledgeSearchOptions extends Omit<StorageSearchOptions, 'vector' | 'text'> {
  text: string;
  /** `topK` as configs and requests of the server spell it. One of the two. */
  top_k?: number | undefined;
}

/** What a search takes. An object literal of this type cannot miss one. */
const known: Record<keyof KnowledgeSearchOptions, true> = {
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

/**
 * The options in the library's spelling. A mistyped name would be ignored in silence otherwise.
 * @throws INVALID_ARGUMENT for a name that is none of a search's options, with the nearest; for both topK and top_k
 */
export function searchOptions(options: KnowledgeSearchOptions): Omit<KnowledgeSearchOptions, 'top_k'> {
  if (typeof options !== 'object' || options === null) {
    throw new LorekeepError('INVALID_ARGUMENT', 'search: an object with a text is expected');
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) {
    const hint = didYouMean(nearestName(unknown, Object.keys(known)));
    const message = `${unknown}: is not an option of a search${hint}`;
    throw new LorekeepError('INVALID_ARGUMENT', message, { argument: unknown });
  }
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
