/** Learns which relevance queries about nothing reach in a knowledge base (docs/concepts/relevance.md). */
import type { LegMinimum } from '../../../lib/internal.js';
import { estimatedOdds } from '../calibrate.js';
import type { KnowledgeBase } from '../knowledge-base.js';
import { type KnowledgeModel, withModel } from '../model.js';
import { lettersOf, nonsenseQueries } from './queries.js';

/** Limits of the config: `search.min_best` and `search.min_by_leg`. */
export interface LeastRelevance {
  min_best: { dense: number; lexical: number };
  min_by_leg: Required<LegMinimum>;
}

/**
 * Shares of nonsense that may reach a limit, and bounds of the limit: a record may answer a query by chance, and in another language
 * than the records' no query has a word of theirs.
 */
const alone = {
  dense: { share: 0.03, least: 0.003, most: 0.1 },
  lexical: { share: 0.02, least: 0.05, most: 0.25 },
};
const byLeg = {
  dense: { share: 0.008, least: 0.003, most: 0.2 },
  lexical: { share: 0.008, least: 0.05, most: 0.35 },
};

/** Share of the greatest values that the tail is fitted to. */
const tail = 0.1;

/** Log odds of hits without relevance. */
const leastOdds = -13.8;

/** Records whose letters are looked at. */
const readRecords = 50;

/** @throws as KnowledgeBase.search() */
export async function learnLeastRelevance(
  kb: Pick<KnowledgeBase, 'list' | 'search' | 'defaults' | 'model'>,
  signal?: AbortSignal,
): Promise<LeastRelevance> {
  const records = await kb.list({ limit: readRecords, signal });
  const queries = nonsenseQueries(lettersOf(records.map(({ text }) => text)));
  const vectors = await vectorsOf(kb.model, queries, signal);
  const odds = { dense: await oddsOf('dense'), lexical: await oddsOf('lexical') };
  return {
    min_best: { dense: limitOf('dense', alone), lexical: limitOf('lexical', alone) },
    min_by_leg: { dense: limitOf('dense', byLeg), lexical: limitOf('lexical', byLeg) },
  };

  /** Of the best hit of each query, without a correction of the config; ascending. */
  async function oddsOf(mode: 'dense' | 'lexical'): Promise<number[]> {
    const found: number[] = [];
    const correction = kb.defaults.relevance?.[mode];
    for (const [at, text] of queries.entries()) {
      const vector = mode === 'dense' ? vectors[at] : undefined;
      const options = { text, mode, vector, minBest: 0, minScore: 0, signal };
      const { hits } = mode === 'dense' && vector === undefined ? { hits: [] } : await kb.search(options);
      found.push(Math.max(leastOdds, ...hits.map(({ relevance }) => estimatedOdds(relevance, correction))));
    }
    return found.sort((one, other) => one - other);
  }

  function limitOf(mode: 'dense' | 'lexical', limits: typeof alone): number {
    const { share, least, most } = limits[mode];
    const limit = 1 / (1 + Math.exp(-exceededBy(share, odds[mode])));
    return Number(Math.min(Math.max(limit, least), most).toPrecision(3));
  }
}

/** Relevance compares a record with others: with fewer there is nothing to learn. */
const fewestRecords = 3;

export const canLearn = (records: number): boolean => records >= fewestRecords;

/** Whether limits learned from `learned` records hold for `records` of them: a tenth more or less changes little. */
export const isLearned = (records: number, learned: number | undefined): boolean =>
  canLearn(records)
    ? learned !== undefined && Math.abs(records - learned) <= learned / 10
    : learned === undefined;

/** Undefined for a text in which the model sees nothing. */
async function vectorsOf(
  model: KnowledgeModel,
  queries: readonly string[],
  signal: AbortSignal | undefined,
): Promise<(Float32Array | undefined)[]> {
  const texts = queries.map((query) => (model.queryPrefix ?? '') + query);
  return withModel(
    model,
    async (native) => {
      const { dimension } = native;
      const { vectors, errors } = await native.embedSettled(texts, { kind: 'query', signal });
      const unseen = new Set(errors.map(({ index }) => index));
      return queries.map((_, at) =>
        unseen.has(at) ? undefined : vectors.subarray(at * dimension, (at + 1) * dimension),
      );
    },
    signal,
  );
}

/**
 * Returns the value that a share of the distribution exceeds, by an exponential tail fitted to the greatest of `sorted`,
 * which are few; at most the greatest of them.
 */
export function exceededBy(share: number, sorted: readonly number[]): number {
  const begin = sorted.length - Math.max(1, Math.floor(tail * sorted.length));
  const base = sorted[begin - 1] as number;
  const excesses = sorted.slice(begin).map((value) => value - base);
  const mean = excesses.reduce((sum, excess) => sum + excess, 0) / excesses.length;
  return Math.min(base + mean * Math.log(tail / share), sorted.at(-1) as number);
}
