import type { Filter, FilterExpression, FusionMethod } from '../../lib/internal.js';
import type { KnowledgeSearchOptions, RerankOptions, SearchableStorage } from '../knowledge/index.js';
import type { CatalogReranker, Rerankers } from '../models/rerankers.js';
import type { Retrieval } from '../protocol/retrieval.js';
import { lexicalOptions } from '../search/lexical-fields.js';

/** The options of a search that do not change from text to text. */
export type LibraryOptions = Omit<KnowledgeSearchOptions, 'text' | 'rerank'> & { topK: number };

/** Returns the fields of a request as options of the library; `configured` is the fusion of the storage's config. */
export function libraryOptions(retrieval: Retrieval, configured: FusionMethod | undefined): LibraryOptions {
  const { mode, threshold, rrf, scores, lexical, highlight, filter, offset, context } = retrieval;
  return {
    mode,
    threshold,
    fusion: fusionOf(retrieval, configured),
    rrf,
    scores,
    minScore: retrieval.min_score,
    lexical: lexicalOptions(lexical),
    highlight: highlight && 'snippet',
    filter: filter as FilterExpression | undefined,
    topK: retrieval.top_k,
    offset,
    groupBy: retrieval.group_by,
    groupSize: retrieval.group_size,
    dropDuplicates: retrieval.drop_duplicates,
    context,
    contextField: retrieval.context_field,
  };
}

/** Returns the fusion that a hybrid request names or implies; the protocol's default is rank fusion. */
function fusionOf(
  { mode, fusion, rrf, scores }: Retrieval,
  configured: FusionMethod | undefined,
): FusionMethod | undefined {
  if (mode !== 'hybrid') return undefined;
  if (fusion !== undefined) return fusion;
  if (rrf !== undefined) return 'rrf';
  return scores !== undefined ? 'scores' : (configured ?? 'rrf');
}

/** A catalog's reranker, and how a request uses it. */
export type Reranking = RerankOptions & { model: CatalogReranker };

/** Options that a storage has accepted. */
export type CheckedOptions = LibraryOptions & { filter: Filter | undefined; rerank: Reranking | undefined };

/**
 * Returns a request's options for a search in this storage. They hold the compiled filter instead of its JSON, which may be
 * large. @throws UnknownModelError; INVALID_ARGUMENT
 */
export function checkedOptions(
  retrieval: Retrieval,
  storage: SearchableStorage,
  rerankers: Rerankers,
): CheckedOptions {
  const options = libraryOptions(retrieval, storage.fusion);
  const filter = storage.check(options);
  return { ...options, filter, rerank: rerankingOf(retrieval, rerankers) };
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
