import { onAbort } from '../../lib/basics.js';
import { integerArgument, LorekeepError, type Ranking, refuse } from '../../lib/internal.js';
import { checkOptionNames, type OptionNames } from './option-names.js';

/** A model that scores documents for a query, such as the library's Reranker. */
export interface RankingModel {
  /** Catalog name, for diagnostics. */
  readonly name?: string;
  rank(query: string, documents: readonly string[], options: { signal?: AbortSignal }): Promise<Ranking>;
}

/** How the hits of a search are reranked. */
export interface RerankOptions {
  /** Judges the hits. */
  model: RankingModel;
  /** Hits that the search finds for the model to sort; the best `topK` remain. Default: 4 x topK, at least 20. */
  candidates?: number | undefined;
  /** Milliseconds after which the order of the search is used. Default: no deadline. */
  deadlineMs?: number | undefined;
}

/** The outcome of reranking. */
export interface RerankFacts {
  /** False: the deadline passed, and the earlier order is used. */
  reranked: boolean;
  /** Documents given to the model. */
  documents: number;
  /** Documents truncated to fit the context. */
  truncated: number;
  /** Tokens computed. */
  tokens: number;
  /** Milliseconds that it took. */
  ms: number;
}

const known: OptionNames<RerankOptions> = { model: true, candidates: true, deadlineMs: true };

const minCandidates = 20;
const maxCandidates = 1000;

/** Returns the number of hits to search for. @throws INVALID_ARGUMENT for wrong options */
export function rerankCandidates(options: RerankOptions, topK: number): number {
  checkOptionNames(options, known, 'a search', 'rerank.');
  const { model, candidates, deadlineMs } = options;
  if (typeof model?.rank !== 'function') refuse('rerank.model', 'a Reranker is expected');
  const usual = Math.min(maxCandidates, Math.max(minCandidates, 4 * topK));
  const wanted = integerArgument('rerank.candidates', candidates, usual, 1, maxCandidates);
  if (deadlineMs !== undefined && !(deadlineMs > 0))
    refuse('rerank.deadlineMs', 'a number above 0 is expected');
  return Math.max(topK, wanted);
}

/** An item with its place and score after reranking. */
export interface Reranked<Item> {
  item: Item;
  /** Absent if the deadline passed. */
  score?: number;
}

/**
 * Sorts items by the scores of their texts, best first; equal scores keep their order. After `deadlineMs`, and for a query that
 * leaves no room for a document in the model's context, the given order stands. @throws as Reranker.rank() does, with `detail.field` "text" for errors of the query; the signal's reason
 */
export async function rerank<Item extends { readonly text: string }>(
  { model, deadlineMs }: Pick<RerankOptions, 'model' | 'deadlineMs'>,
  query: string,
  items: readonly Item[],
  signal?: AbortSignal | undefined,
): Promise<{ items: Reranked<Item>[]; facts: RerankFacts }> {
  const started = performance.now();
  const facts = (ranking?: Ranking): RerankFacts => ({
    reranked: ranking !== undefined,
    documents: items.length,
    truncated: ranking?.truncated.length ?? 0,
    tokens: ranking?.tokens ?? 0,
    ms: performance.now() - started,
  });
  const unchanged = () => items.map((item) => ({ item }));
  if (items.length === 0) return { items: [], facts: { ...facts(), reranked: true } };
  const stop = new AbortController();
  const stopListening = onAbort(signal, () => stop.abort(signal?.reason));
  const timer = deadlineMs === undefined ? undefined : setTimeout(() => stop.abort(), deadlineMs);
  try {
    const texts = items.map(({ text }) => text);
    const ranking = await model.rank(query, texts, { signal: stop.signal });
    const sorted = ranking.results.map(({ index, score }) => ({ item: items[index] as Item, score }));
    return { items: sorted, facts: facts(ranking) };
  } catch (error) {
    signal?.throwIfAborted();
    if (stop.signal.aborted || leavesNoRoom(error)) return { items: unchanged(), facts: facts() };
    throw queryError(error);
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

/** Whether a query fills the reranker's context, so that no document fits beside it. */
function leavesNoRoom(error: unknown): boolean {
  return error instanceof LorekeepError && error.code === 'TEXT_TOO_LONG';
}

/** Blames the query for an error of its text: the texts of the documents never fail. */
function queryError(error: unknown): unknown {
  if (!(error instanceof LorekeepError) || error.detail.field !== undefined) return error;
  const { code, message: reason, detail } = error;
  if (code !== 'INVALID_ARGUMENT') return error;
  return LorekeepError.about(code, { ...detail, field: 'text', reason }, { cause: error });
}
