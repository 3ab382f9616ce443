import type { FusionOptions, StorageHit, StoragePlan } from '../../lib/index.js';
import { fail } from '../protocol/errors.js';
import type { Fusion, Hit, Retrieval, RetrievalPlan } from '../protocol/retrieval.js';
import type { StoragePin } from './shared-storage.js';

export interface SearchOutcome {
  hits: Hit[];
  plan: RetrievalPlan;
  /** Milliseconds spent on the query's embedding and on the search. */
  embedMs: number;
  searchMs: number;
}

/** @throws UnsupportedFeature for what this version cannot search by. `where` names the field in errors. */
export function checkRetrieval(retrieval: Retrieval, where: string): void {
  if (retrieval.filter !== undefined) {
    fail(1005, `${where}: filters need metadata, which storages do not have yet`, {
      path: where,
      feature: 'filter',
    });
  }
}

/** Embeds the query with the storage's own model, as the mode needs, and searches. */
export async function searchStorage(
  { storage, model }: StoragePin,
  query: string,
  retrieval: Retrieval,
  signal: AbortSignal,
): Promise<SearchOutcome> {
  const started = performance.now();
  const vector = retrieval.mode === 'lexical' ? undefined : await model.embedQuery(query, signal);
  const embedded = performance.now();
  const { hits, plan } = await storage.search({
    mode: retrieval.mode,
    vector,
    text: query,
    topK: retrieval.top_k,
    threshold: retrieval.threshold,
    rrf: fusion(retrieval.rrf, model.fusion),
    signal,
  });
  const searched = performance.now();
  return {
    hits: hits.map(wireHit),
    plan: wirePlan(plan),
    embedMs: embedded - started,
    searchMs: searched - embedded,
  };
}

/** The request's fusion, then the catalog's; the library has the defaults. */
function fusion(request: Fusion = {}, catalog: Fusion = {}): FusionOptions {
  return {
    k: request.k ?? catalog.k,
    weights: {
      dense: request.weights?.dense ?? catalog.weights?.dense,
      lexical: request.weights?.lexical ?? catalog.weights?.lexical,
    },
    candidates: request.candidates ?? catalog.candidates,
  };
}

function wireHit({ id, text, rank, score, distance, bm25Score, denseRank, lexicalRank }: StorageHit): Hit {
  return {
    id,
    text,
    rank,
    score,
    distance,
    bm25_score: bm25Score,
    dense_rank: denseRank,
    lexical_rank: lexicalRank,
  };
}

function wirePlan({ mode, dense, lexical }: StoragePlan): RetrievalPlan {
  return { mode, dense, lexical };
}
