// Confidence intervals of a mean over queries: percentiles of the means of resampled queries (Efron's bootstrap).

import { quantile, Random } from '../harness/numbers.mjs';
import { mean } from './measures.mjs';

const resamples = 1000;
const seed = 20240229;

/** [low, high] of 95 %. Give the differences of two programs for a paired interval. */
export const interval = (values) => intervalOfMeans([values]);

/** The 95 % interval, [low, high], of the mean over collections. Each collection is a list with one value per query. */
export function intervalOfMeans(collections) {
  const random = new Random(seed);
  const resampled = (values) => mean(values.map(() => values[random.integer(values.length)]));
  const means = Array.from({ length: resamples }, () => mean(collections.map(resampled)));
  return [quantile(means, 0.025), quantile(means, 0.975)];
}
