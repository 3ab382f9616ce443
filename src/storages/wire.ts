import type { MetadataValue } from '../../lib/internal.js';
import { mapInSlices } from '../base/waiting/next-slice.js';
import type { QuotingHistory, RerankFacts, SearchOutcome } from '../knowledge/index.js';
import type { NamedHit, NamedOutcome } from '../knowledge/search-storages.js';
import type { QuotingHistories } from '../protocol/memories.js';
import { milliseconds } from '../protocol/milliseconds.js';
import type { Hit, RetrievalPlan } from '../protocol/retrieval.js';
import type { Reranking } from './search-options.js';

/** The outcome of a search in protocol form. Times are sums over all storages. */
export interface WireOutcome
  extends Pick<SearchOutcome, 'embedMs' | 'searchMs' | 'times' | 'embedding' | 'cosineFloor'> {
  hits: Hit[];
  /** Version of the storage; absent for several. */
  version?: number | undefined;
  /** Whether the request wants to know that a storage's files have changed, and they have. */
  stale: boolean;
  /** The plan in the first storage; so are `embedding` and `cosineFloor`. */
  plan: RetrievalPlan;
  /** The plan in each storage, if they are named. */
  plans?: { storage: string; plan: RetrievalPlan }[];
}

/** Histories that quote forgotten texts, in protocol form. */
export const wireHistories = (found: readonly QuotingHistory[]): QuotingHistories =>
  found.map(({ session, agent, turns, removed }) => ({
    session_id: session,
    agent_id: agent,
    turns,
    removed,
  }));

/** Converts the outcome of a search. */
export async function wireOutcome(
  { hits, outcomes }: NamedOutcome,
  reranking: Reranking | undefined,
): Promise<Omit<WireOutcome, 'stale'>> {
  const [{ plan, rerank, embedding, cosineFloor }] = outcomes as [(typeof outcomes)[number]];
  const sum = (of: (outcome: (typeof outcomes)[number]) => number) =>
    outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const plans = outcomes.flatMap(({ storage, plan }) => (storage === undefined ? [] : { storage, plan }));
  return {
    hits: await mapInSlices(hits, wireHit),
    ...(outcomes.length === 1 && { version: outcomes[0]?.version }),
    plan: { ...plan, ...(rerank && { rerank: wireRerank(reranking, rerank) }) },
    ...(plans.length > 0 && { plans }),
    ...(embedding && { embedding }),
    ...(cosineFloor !== undefined && { cosineFloor }),
    embedMs: sum(({ embedMs }) => embedMs),
    searchMs: sum(({ searchMs }) => searchMs),
    times: {
      filter: sum(({ times }) => times.filter),
      dense: sum(({ times }) => times.dense),
      lexical: sum(({ times }) => times.lexical),
      fusion: sum(({ times }) => times.fusion),
    },
  };
}

/** Returns the facts of reranking in protocol form. */
export function wireRerank(
  used: { model: { name?: string } } | undefined,
  { ms, ...facts }: RerankFacts,
): NonNullable<RetrievalPlan['rerank']> {
  return { model: used?.model.name ?? '', ...facts, ms: milliseconds(ms) };
}

/** Converts a hit to its protocol form. */
export function wireHit(hit: NamedHit): Hit {
  const { id, text, metadata, rank, score, distance, bm25Score, denseRank, lexicalRank, snippet } = hit;
  const { storage, denseScore, lexicalScore, relevance, rerankScore, context } = hit;
  return {
    storage,
    id,
    text,
    rank,
    score,
    distance,
    bm25_score: bm25Score,
    dense_rank: denseRank,
    lexical_rank: lexicalRank,
    dense_score: denseScore,
    lexical_score: lexicalScore,
    rerank_score: rerankScore,
    relevance,
    snippet,
    context,
    metadata: metadata && wireMetadata(metadata),
  };
}

/** Sends integers beyond 2^53 as decimal strings, because many JSON readers round them. */
export function wireMetadata(metadata: Record<string, MetadataValue>): NonNullable<Hit['metadata']> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? String(value) : value,
    ]),
  );
}
