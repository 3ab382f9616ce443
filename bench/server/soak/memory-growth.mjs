// Judges whether what a server holds grows with the requests that it has answered. Time is not looked at: on a busy machine
// an interval has fewer requests, and they hold as much.

/**
 * How many requests are left out before the growth is judged, and the KiB per 1,000 requests that are no leak then. Histories,
 * caches, allocators and compiled code grow to their working size more and more slowly. A run that is too short for the first
 * line leaves out its first half and may grow as the next line says.
 */
const limits = [
  { warmUp: 20_000, allowed: 128 },
  { warmUp: 5000, allowed: 1024 },
  { warmUp: 0, allowed: 4096 },
];
const fewestSamples = 8;
/** Two-sided 99 % of a normal distribution. */
const confidence = 2.576;

/**
 * @param samples [{requests, memory}]: requests so far, and the KiB that the server holds after a collection
 * @returns {warmUp, slope, least, most, allowed, failure}: the requests left out at the start; KiB per 1,000 requests after
 * them, with the ends of its confidence interval, and what is allowed; why the run fails, or undefined
 */
export function judgeGrowth(samples) {
  const total = samples.at(-1)?.requests ?? 0;
  const warmUp = Math.min(limits[0].warmUp, total / 2);
  const late = samples.filter(({ requests }) => requests >= warmUp);
  const { allowed } = limits.find((limit) => warmUp >= limit.warmUp);
  if (late.length < fewestSamples)
    return { warmUp, allowed, failure: `${late.length} samples are too few to judge the memory` };
  const found = theilSen(late.map(({ requests, memory }) => ({ x: requests / 1000, y: memory })));
  const grown = `${found.slope.toFixed(1)} KiB per 1,000 requests (at least ${found.least.toFixed(1)})`;
  const failure = found.least > allowed ? `it holds ${grown} more; ${allowed} are allowed` : undefined;
  return { warmUp, allowed, ...found, failure };
}

/**
 * The median of the slopes between all pairs of points, and the confidence interval after Sen (1968). A few samples that
 * are far off, or a step, move it little.
 */
export function theilSen(points) {
  const slopes = [];
  for (let j = 1; j < points.length; j++)
    for (let i = 0; i < j; i++)
      if (points[j].x > points[i].x) slopes.push((points[j].y - points[i].y) / (points[j].x - points[i].x));
  slopes.sort((a, b) => a - b);
  const count = points.length;
  const spread = confidence * Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
  const at = (place) => slopes[Math.min(slopes.length - 1, Math.max(0, Math.round(place)))] ?? 0;
  const last = slopes.length - 1;
  return { slope: at(last / 2), least: at((last - spread) / 2), most: at((last + spread) / 2) };
}
