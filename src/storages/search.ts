import {
  type EmbedResult,
  type Filter,
  type FilterExpression,
  LorekeepError,
  type MetadataValue,
  type StorageHit,
  type StoragePlan,
} from '../../lib/index.js';
import { type LoadedModel, TextError } from '../catalog/loaded-model.js';
import { fusionFor, wordsAlone } from '../fusion/model-fusion.js';
import { fail, serverError } from '../protocol/errors.js';
import type { Hit, Retrieval, RetrievalPlan } from '../protocol/retrieval.js';
import type { StoragePin } from './shared-storage.js';

export interface SearchOutcome {
  hits: Hit[];
  plan: RetrievalPlan;
  /** Milliseconds spent on the query's embedding and on the search. */
  embedMs: number;
  searchMs: number;
  /** What the embedding took; absent in lexical mode. */
  embedding?: { tokens: number; batches: number } | undefined;
}

/** What to look for, and how. */
export interface Query {
  text: string;
  retrieval: Retrieval;
  /** Compiled from the retrieval's filter for this storage. */
  filter?: Filter | undefined;
  /** Values of the filter's variables. */
  variables?: Readonly<Record<string, unknown>> | undefined;
  /** Where the text and the filter are in the request, and the code of what is wrong with the filter. */
  textPath: string;
  filterPath: string;
  invalid: 1004 | 4003;
}

/** Checks a filter against the storage's fields. @throws `invalid`, with the path within the filter */
export function compileFilter(
  { storage }: StoragePin,
  filter: unknown,
  where: string,
  invalid: Query['invalid'],
): Filter | undefined {
  if (filter === undefined) return undefined;
  try {
    return storage.compileFilter(filter as FilterExpression);
  } catch (error) {
    throw filterError(error, where, invalid);
  }
}

/**
 * Checks what a hybrid search will weigh its legs with, the model's own fusion included. `where` is the place of `rrf`.
 * @throws `invalid` when both weigh nothing
 */
export function checkFusion(
  { storage, model }: StoragePin,
  { mode, rrf }: Retrieval,
  where: string,
  invalid: Query['invalid'],
): void {
  if (mode !== 'hybrid') return;
  const { weights } = fusionFor(storage.tokenizer, model.fusion, rrf);
  if (weights?.dense !== 0 || weights.lexical !== 0) return;
  const path = `${where}.weights`;
  fail(invalid, `${path}: both legs weigh 0 for this storage; a weight above 0 is expected for one`, {
    path,
  });
}

/** What the library finds wrong with a filter or with its variables, in terms of the request. */
function filterError(error: unknown, where: string, invalid: Query['invalid']): unknown {
  if (!(error instanceof LorekeepError) || error.code !== 'INVALID_ARGUMENT') return error;
  const { path, ...facts } = error.detail;
  const details = { ...facts, path: where, ...(path !== undefined && { filter_path: path }) };
  return serverError(invalid, `${where}: ${error.message.replace(/^filter: /, '')}`, details, {
    cause: error,
  });
}

/**
 * Embeds the query with the storage's own model, as the mode needs, and searches. A hybrid search for a text in which the
 * model sees nothing looks for its words alone.
 */
export async function searchStorage(
  { storage, model }: StoragePin,
  { text, textPath, retrieval, filter, filterPath, variables, invalid }: Query,
  signal: AbortSignal,
): Promise<SearchOutcome> {
  const started = performance.now();
  const rrf = fusionFor(storage.tokenizer, model.fusion, retrieval.rrf);
  const lexical = retrieval.mode === 'hybrid' ? wordsAlone(rrf) : undefined;
  const embedding =
    retrieval.mode === 'lexical'
      ? undefined
      : await embedQuery(model, text, textPath, lexical !== undefined, signal);
  const embedded = performance.now();
  const searching = storage.search({
    mode: retrieval.mode,
    vector: embedding?.vectors ?? new Float32Array(storage.dimension),
    text,
    topK: retrieval.top_k,
    threshold: retrieval.threshold,
    rrf: embedding === undefined ? lexical : rrf,
    filter,
    variables: filter && usedVariables(filter, variables),
    signal,
  });
  const { hits, plan } = await searching.catch((error) => {
    throw filter === undefined ? error : filterError(error, filterPath, invalid);
  });
  const searched = performance.now();
  return {
    hits: hits.map(wireHit),
    plan: wirePlan(plan),
    embedMs: embedded - started,
    searchMs: searched - embedded,
    embedding: embedding && { tokens: embedding.tokens, batches: embedding.batches },
  };
}

/** @throws TextTooLong, TextWithoutTokens, EmbeddingFailed, which name the field */
async function embedQuery(
  model: LoadedModel,
  text: string,
  textPath: string,
  unseenIsFine: boolean,
  signal: AbortSignal,
): Promise<EmbedResult | undefined> {
  try {
    return await model.embedQueryCounted(text, signal);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    if (unseenIsFine && error.isUnseen) return undefined;
    throw error.toServerError(textPath);
  }
}

/** Those that the filter names: others are for templates, and may be of any type. */
function usedVariables(
  filter: Filter,
  given: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  return Object.fromEntries(
    filter.variables.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
  );
}

/** A hit as clients see it. */
export function wireHit(hit: StorageHit): Hit {
  const { id, text, metadata, rank, score, distance, bm25Score, denseRank, lexicalRank } = hit;
  return {
    id,
    text,
    rank,
    score,
    distance,
    bm25_score: bm25Score,
    dense_rank: denseRank,
    lexical_rank: lexicalRank,
    metadata: metadata && wireMetadata(metadata),
  };
}

/** JSON has no integers beyond 2^53 that every reader keeps: those are sent as decimal strings. */
function wireMetadata(metadata: Record<string, MetadataValue>): NonNullable<Hit['metadata']> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? String(value) : value,
    ]),
  );
}

export function wirePlan({ mode, dense, lexical }: StoragePlan): RetrievalPlan {
  return { mode, dense, lexical };
}
