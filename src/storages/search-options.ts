import { searchOptions } from '../../lib/basics.js';
import type { Filter, FilterExpression } from '../../lib/internal.js';
import type { KnowledgeSearchOptions, RerankOptions, SearchableStorage } from '../knowledge/index.js';
import type { PreparedOptions } from '../knowledge/searchable.js';
import type { CatalogReranker, Rerankers } from '../models/rerankers.js';
import type { Retrieval } from '../protocol/retrieval.js';
import { fromFields } from '../search/option-names.js';

/** The options of a search that do not change from text to text. */
export type LibraryOptions = Omit<KnowledgeSearchOptions, 'text' | 'rerank'>;

/** A request's fields, and the record that it asks for others like. */
export type AskedRetrieval = Retrieval & { similar_to?: string | undefined };

/** Returns the fields of a request as options of the library. */
export function libraryOptions(retrieval: AskedRetrieval): LibraryOptions {
  const { highlight, filter, similar_to: similarTo } = retrieval;
  return {
    ...fromFields<LibraryOptions>(searchOptions, retrieval),
    highlight: highlight && 'snippet',
    filter: filter as FilterExpression | undefined,
    similarTo,
  };
}

/** A catalog's reranker, and how a request uses it. */
export type Reranking = RerankOptions & { model: CatalogReranker };

/** Options that a storage has accepted. */
export type CheckedOptions = PreparedOptions & { rerank: Reranking | undefined };

/**
 * Returns a request's options for a search in this storage. They hold the compiled filter instead of its JSON, which may be
 * large. @throws UnknownModelError; INVALID_ARGUMENT
 */
export function checkedOptions(
  retrieval: AskedRetrieval,
  storage: SearchableStorage,
  rerankers: Rerankers,
): CheckedOptions {
  return { ...storage.prepare(libraryOptions(retrieval)), rerank: rerankingOf(retrieval, rerankers) };
}

function rerankingOf({ rerank }: Retrieval, rerankers: Rerankers): Reranking | undefined {
  if (rerank === undefined) return undefined;
  const { model, candidates, deadline_ms: deadlineMs } = rerank;
  return { model: rerankers.find(model), candidates, deadlineMs };
}

/** Returns the variables that the filter names. The others are for templates and may have any type. */
export function usedVariables(
  filter: Filter | undefined,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  if (filter === undefined) return undefined;
  const used = filter.variables.filter((name) => Object.hasOwn(given, name));
  return Object.fromEntries(used.map((name) => [name, given[name]]));
}
