/** How the relevance of hits agrees with the judgments of an evaluation. */
export interface RelevanceSummary {
  hits: number;
  /** Share of the hits that are relevant. */
  relevant: number;
  /** Mean relevance of the hits: the same as `relevant` if relevance is calibrated for these questions. */
  mean: number;
  /** Probability that a relevant hit has more relevance than another; absent without hits of both kinds. */
  auroc?: number;
  /** The greatest `minScore`, in thousandths, that keeps 95 % of the relevant hits; absent without relevant hits. */
  minScore?: number;
  /** Share of the other hits that it drops; absent without hits of both kinds. */
  dropped?: number;
}

export interface JudgedHit {
  relevance: number;
  isRelevant: boolean;
}

const kept = 0.95;

/** Summarises hits of all questions. */
export function summariseRelevance(hits: readonly JudgedHit[]): RelevanceSummary {
  const of = (wanted: boolean) =>
    hits
      .filter(({ isRelevant }) => isRelevant === wanted)
      .map(({ relevance }) => relevance)
      .sort((a, b) => a - b);
  const relevant = of(true);
  const others = of(false);
  const share = (part: number, all: number) => (all === 0 ? 0 : part / all);
  const summary: RelevanceSummary = {
    hits: hits.length,
    relevant: share(relevant.length, hits.length),
    mean: share(
      hits.reduce((sum, { relevance }) => sum + relevance, 0),
      hits.length,
    ),
  };
  const least = relevant[relevant.length - Math.ceil(kept * relevant.length)];
  if (least === undefined) return summary;
  const minScore = Math.floor(least * 1000) / 1000;
  if (others.length === 0) return { ...summary, minScore };
  const dropped = share(countBelow(others, minScore), others.length);
  return { ...summary, auroc: aurocOf(relevant, others), minScore, dropped };
}

/** Both ascending. Equal values count half. */
function aurocOf(relevant: readonly number[], others: readonly number[]): number {
  const wins = relevant.reduce(
    (sum, one) => sum + (countBelow(others, one) + countBelow(others, one, true)) / 2,
    0,
  );
  return wins / (relevant.length * others.length);
}

/** Returns how many of some ascending values are less than the limit, or equal to it. */
function countBelow(ascending: readonly number[], limit: number, orEqual = false): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const value = ascending[middle] as number;
    if (value < limit || (orEqual && value === limit)) low = middle + 1;
    else high = middle;
  }
  return low;
}
