// Measures of a ranked list. Gains are linear, as in trec_eval's ndcg_cut.

const discount = (position) => 1 / Math.log2(position + 2);

/** nDCG@k of ranked document ids against Map(document id -> gain). */
export function ndcg(ranked, gains, k = 10) {
  const sum = (list) => list.slice(0, k).reduce((total, gain, i) => total + gain * discount(i), 0);
  const ideal = sum([...gains.values()].filter((gain) => gain > 0).sort((a, b) => b - a));
  return ideal === 0 ? 0 : sum(ranked.map((id) => gains.get(id) ?? 0)) / ideal;
}

/** Share of the relevant documents among the first k. */
export function recall(ranked, gains, k = 100) {
  const relevant = [...gains].filter(([, gain]) => gain > 0).map(([id]) => id);
  const found = new Set(ranked.slice(0, k));
  return relevant.length === 0 ? 0 : relevant.filter((id) => found.has(id)).length / relevant.length;
}

export const mean = (numbers) =>
  numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
