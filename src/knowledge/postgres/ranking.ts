/**
 * Ranks the candidates of the legs as native/store does (search/fuse.cc, score_fusion.cc, relevance.cc), whose formulas and fitted
 * coefficients it repeats. test/knowledge/postgres compares the two.
 */
import type { LegMinimum } from '../../../lib/internal.js';
import type { Background } from './background.js';

/** A record that a leg found, with its scores of both. */
export interface Candidate {
  readonly row: number;
  /** Cosine distance; NaN without a vector. */
  readonly distance: number;
  /** 0 without a word of the query. */
  readonly bm25: number;
  /** From 1; undefined if that leg did not find it. */
  denseRank: number | undefined;
  readonly lexicalRank: number | undefined;
}

export interface Ranked<Of extends Candidate = Candidate> {
  readonly of: Of;
  readonly score: number;
  /** Of a fusion by scores. */
  readonly denseScore?: number;
  readonly lexicalScore?: number;
  relevance: number;
}

export interface Legs<Of extends Candidate = Candidate> {
  readonly all: readonly Of[];
  /** Best first. */
  readonly dense: readonly Of[];
  readonly lexical: readonly Of[];
}

/** Best scores of the legs. `next`: the greatest below the best by more than copies of a text differ. */
export interface BestScores {
  readonly cosine: number;
  readonly bm25: number;
  readonly nextCosine: number;
  readonly nextBm25: number;
}

/** Returns the candidates by leg. */
export function legsOf<Of extends Candidate>(all: readonly Of[]): Legs<Of> {
  const by = (rank: (candidate: Of) => number | undefined) =>
    all
      .filter((one) => rank(one) !== undefined)
      .toSorted((a, b) => (rank(a) as number) - (rank(b) as number));
  return { all, dense: by(({ denseRank }) => denseRank), lexical: by(({ lexicalRank }) => lexicalRank) };
}

/** Largest difference between the scores of copies of a text. */
const sameScore = 1e-5;

export function bestScores({ dense, lexical }: Legs): BestScores {
  const [near] = dense;
  const [wordy] = lexical;
  const other = dense.find(({ distance }) => Math.abs(distance - (near as Candidate).distance) > sameScore);
  const next = lexical.find(({ bm25 }) => Math.abs(bm25 - (wordy as Candidate).bm25) > sameScore);
  return {
    cosine: near === undefined ? -1 : 1 - near.distance,
    bm25: wordy?.bm25 ?? 0,
    nextCosine: 1 - (other?.distance ?? 2),
    nextBm25: next?.bm25 ?? 0,
  };
}

const byScore = (a: Ranked, b: Ranked) => b.score - a.score || a.of.row - b.of.row;

/** Fuses by reciprocal ranks. */
export function fuseRanks<Of extends Candidate>(
  { all }: Legs<Of>,
  { k, dense, lexical }: { k: number; dense: number; lexical: number },
  count: number,
): Ranked<Of>[] {
  const share = (weight: number, rank: number | undefined) => (rank === undefined ? 0 : weight / (k + rank));
  const ranked = all.map((of) => ({
    of,
    score: share(dense, of.denseRank) + share(lexical, of.lexicalRank),
    relevance: 0,
  }));
  return ranked.toSorted(byScore).slice(0, count);
}

/** Minimum range of cosines above the background. */
const minRange = 0.05;

const clamped = (value: number) => Math.min(1, Math.max(0, value));

/** Maps scores of one query to [0, 1]. */
interface ScoreScale {
  readonly background: number;
  readonly bestCosine: number;
  readonly bestBm25: number;
}

const denseOn = ({ background, bestCosine }: ScoreScale, distance: number) =>
  clamped(1 - (bestCosine - (1 - distance)) / Math.max(1 - background, minRange));
const lexicalOn = ({ bestBm25 }: ScoreScale, bm25: number) => (bestBm25 > 0 ? clamped(bm25 / bestBm25) : 0);

/** Fuses by normalised scores. `distanceOf`: by the vector that the query was moved to. */
export function fuseScores<Of extends Candidate>(
  { all }: Legs<Of>,
  { weight, background }: { weight: number; background: number },
  count: number,
  distanceOf: (of: Of) => number = ({ distance }) => distance,
): Ranked<Of>[] {
  const scale = {
    background,
    bestCosine: all.reduce((best, of) => Math.max(best, 1 - distanceOf(of)), -1),
    bestBm25: all.reduce((best, { bm25 }) => Math.max(best, bm25), 0),
  };
  const ranked = all.map((of) => {
    const denseScore = weight > 0 ? denseOn(scale, distanceOf(of)) : 0;
    const lexicalScore = weight < 1 ? lexicalOn(scale, of.bm25) : 0;
    const score = weight * denseScore + (1 - weight) * lexicalScore;
    return { of, score, denseScore, lexicalScore, relevance: 0 };
  });
  return ranked.toSorted(byScore).slice(0, count);
}

/** Mean fall of the cosines over the training queries, and the logarithm of the odds per unit of it. */
const usualFall = 0.66;
const oddsOfFall = 1.5;

/** Returns the weight of the dense leg for one query: it rises if its cosines fall steeply. */
export function adaptedWeight(weight: number, { dense }: Legs): number {
  const at = (index: number) => (dense[index] as Candidate).distance;
  if (weight <= 0 || weight >= 1 || dense.length < 50) return weight;
  const range = at(49) - at(0);
  if (!(range > 0)) return weight;
  const odds = (weight / (1 - weight)) * Math.exp(oddsOfFall * ((at(9) - at(0)) / range - usualFall));
  return odds / (1 + odds);
}

/** Inputs of relevance besides the scores of a hit. */
export interface RelevanceScale {
  readonly mode: 'dense' | 'lexical' | 'hybrid';
  readonly background: Background;
  /** Largest possible BM25 score of the query; 0: no words. */
  readonly bm25Limit: number;
  /** Distinct words of the query. */
  readonly words: number;
  readonly offset: number;
  readonly slope: number;
}

const denseOdds = { constant: -13.92, above: 11.75, dense: 6.91 };
const denseWithWords = { constant: -13.72, above: 7.88, dense: 7.33, coverage: 4.97 };
const lexicalOdds = { constant: -9.03, coverage: 9.74, lexical: 3.17, words: 1.32 };
const hybridOdds = {
  constant: -6.1,
  above: 7.07,
  coverage: 1.19,
  lexical: 1.21,
  lead: 1.68,
  leadOfWords: 7.81,
};

/** The larger of two estimates, less the bias of taking the larger. */
const larger = (byCosine: number, withWords: number, margin: number, bias: number) =>
  Math.max(byCosine - margin, withWords) - bias;

const leadOf = (value: number, best: number, next: number) => value - (value >= best ? next : best);

/** Sets the relevance of hits. */
export function judge(hits: readonly Ranked[], best: BestScores, scale: RelevanceScale): void {
  const { mode, background, bm25Limit, words, offset, slope } = scale;
  const isDense = mode === 'dense';
  const bestCosine = hits.reduce((most, { of }) => Math.max(most, 1 - (of.distance || 0)), best.cosine);
  const bestBm25 = isDense ? best.bm25 : hits.reduce((most, { of }) => Math.max(most, of.bm25), best.bm25);
  const scores = { background: background.mean, bestCosine, bestBm25 };
  const nextCosine = Math.max(best.nextCosine, background.mean);
  const range = Math.max(1 - background.floor, minRange);
  const odds = ({ distance, bm25 }: Candidate) => {
    const coverage = bm25Limit > 0 ? Math.min(bm25 / bm25Limit, 1) : 0;
    if (mode === 'lexical') {
      const { constant, ...of } = lexicalOdds;
      const number = Math.log(Math.max(words, 1));
      return constant + of.coverage * coverage + of.lexical * lexicalOn(scores, bm25) + of.words * number;
    }
    const cosine = 1 - distance;
    const above = (cosine - background.floor) / range;
    const dense = denseOn(scores, distance);
    const byCosine = denseOdds.constant + denseOdds.above * above + denseOdds.dense * dense;
    if (bm25Limit <= 0) return byCosine;
    if (isDense) {
      const { constant, ...of } = denseWithWords;
      const estimate = constant + of.above * above + of.dense * dense + of.coverage * coverage;
      return larger(byCosine, estimate, 0, 0.4);
    }
    const { constant, ...of } = hybridOdds;
    const lead = (of.lead * leadOf(cosine, bestCosine, nextCosine)) / range;
    const leadOfWords = (of.leadOfWords * leadOf(bm25, bestBm25, best.nextBm25)) / bm25Limit;
    const estimate =
      constant + of.above * above + of.coverage * coverage + of.lexical * lexicalOn(scores, bm25);
    return larger(byCosine, estimate + lead + leadOfWords, 0.5, 0.36);
  };
  for (const hit of hits) hit.relevance = 1 / (1 + Math.exp(-(offset + slope * odds(hit.of))));
}

/** In collections of 3 to 1,000 records, the odds that nonsense reaches grow by about this power of their number. */
const growth = 0.3;

/** Whether a leg of a hybrid search alone finds one of the hits relevant enough. `share`: of the records that match the filter. */
export function foundByALeg(
  hits: readonly Ranked[],
  {
    best,
    scale,
    least,
    share,
  }: { best: BestScores; scale: RelevanceScale; least: LegMinimum; share: number },
): boolean {
  return (['dense', 'lexical'] as const).some((mode) => {
    const { [mode]: amongAll } = least;
    if (amongAll === undefined) return false;
    const odds = amongAll * share ** growth;
    const limit = odds / (odds + 1 - amongAll);
    // The words alone do not find a record without any of them.
    const found = mode === 'lexical' ? hits.filter(({ of }) => of.bm25 > 0) : hits;
    const judged = found.map((hit) => ({ ...hit }));
    judge(judged, best, { ...scale, mode, offset: 0, slope: 1 });
    return judged.some(({ relevance }) => relevance >= limit);
  });
}
