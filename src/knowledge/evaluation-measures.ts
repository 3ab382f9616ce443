/** Measures of one ranked list, 0 to 1. Gains are linear. */
export interface Measures {
  /** Normalised discounted cumulative gain of the first k hits. */
  ndcg: number;
  /** Share of the relevant records among the first k hits. */
  recall: number;
  /** 1 / rank of the first relevant hit; 0 without one among the first k. */
  mrr: number;
  /** 1 if a relevant record is among the first k hits, else 0. */
  hitRate: number;
}

export const measureNames = ['ndcg', 'recall', 'mrr', 'hitRate'] as const satisfies (keyof Measures)[];

const discount = (position: number) => 1 / Math.log2(position + 2);

/** Measures the first k ids of a ranked list. `gains`: of the relevant records, above 0, by id. */
export function measure(ranked: readonly string[], gains: ReadonlyMap<string, number>, k: number): Measures {
  const first = ranked.slice(0, k);
  const dcg = (list: readonly number[]) =>
    list.slice(0, k).reduce((sum, gain, position) => sum + gain * discount(position), 0);
  const found = first.map((id) => gains.get(id) ?? 0);
  const at = found.findIndex((gain) => gain > 0);
  return {
    ndcg: dcg(found) / dcg([...gains.values()].sort((a, b) => b - a)),
    recall: found.filter((gain) => gain > 0).length / gains.size,
    mrr: at < 0 ? 0 : 1 / (at + 1),
    hitRate: at < 0 ? 0 : 1,
  };
}

/** Means over the questions. Precondition: at least one. */
export function meanMeasures(all: readonly Measures[]): Measures {
  const mean = (name: keyof Measures) => all.reduce((sum, one) => sum + one[name], 0) / all.length;
  return { ndcg: mean('ndcg'), recall: mean('recall'), mrr: mean('mrr'), hitRate: mean('hitRate') };
}

/** Mean of paired differences with its 95 % interval; the half width is 0 for a single pair. */
export function pairedDifference(a: readonly number[], b: readonly number[]): { mean: number; half: number } {
  const differences = a.map((value, i) => value - (b[i] ?? 0));
  const count = differences.length;
  const mean = differences.reduce((sum, value) => sum + value, 0) / count;
  if (count < 2) return { mean, half: 0 };
  const variance = differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  return { mean, half: 1.96 * Math.sqrt(variance / count) };
}
