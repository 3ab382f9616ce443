// The curves of the suite: which file each is, what its axes are. A trial's result names the chart; trials may share one, a panel each.
// Axes are logarithmic, because ratios are compared; the time axis is linear.

/** Above a recall of 0.9995 there is no more to tell, at the number of queries that are asked. */
const fewestMissed = 0.0005;

const whole = (value) => String(Math.round(value));

export const charts = {
  'recall-qps': {
    title: 'Recall against queries per second',
    caption:
      'One caller from JavaScript; each point is a search width that no other width beats in both. Up and right is better.',
    x: {
      label: 'recall@10 →',
      reverse: true,
      ticks: [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001],
      tickFormat: (miss) => String(Number((1 - miss).toFixed(4))),
    },
    y: { label: '↑ queries per second' },
    points: unbeatenByMissed,
  },
  'latency-selectivity': {
    title: 'Latency of a filtered search against its selectivity',
    caption: 'Median of one search, filter included. Lower is better.',
    x: {
      label: 'records that match →',
      ticks: [0.0001, 0.001, 0.01, 0.1, 0.5],
      tickFormat: (share) => `${Number((share * 100).toPrecision(1))} %`,
    },
    y: { label: '↑ milliseconds' },
  },
  'throughput-batch': {
    title: 'Throughput against batch size',
    caption: 'What is done a second when one call carries so many. Higher is better.',
    x: {
      label: 'in one call →',
      ticks: [1, 4, 16, 64, 256, 1024],
      tickFormat: whole,
    },
    y: { label: '↑ a second' },
  },
  'gap-first-token': {
    title: 'Longest gap of a stream against the first token of a long prompt beside it',
    caption:
      'Each point is a step target of lorekeep or a batch size of llama-server. Down and left is better.',
    x: { label: 'first token of the long prompt, seconds →' },
    y: { label: '↑ longest gap, milliseconds' },
  },
  'generation-prompt': {
    title: 'Prefill against the length of the prompt',
    caption: 'One stream. Higher is better.',
    x: { label: 'tokens of the prompt →', ticks: [64, 256, 1024, 4096], tickFormat: whole },
    y: { label: '↑ tokens per second' },
  },
  'generation-chunk': {
    title: 'Prefill of a chunk behind 4,000 tokens',
    caption: 'What a prompt gets of a step while somebody streams. Higher is better.',
    x: { label: 'tokens of the chunk →', ticks: [1, 4, 16, 64, 256], tickFormat: whole },
    y: { label: '↑ tokens per second' },
  },
  'generation-depth': {
    title: 'Decode against the depth of the context',
    caption: 'One stream. Higher is better.',
    x: { label: 'tokens in the context →', ticks: [16, 1024, 2048, 4096], tickFormat: whole },
    y: { label: '↑ tokens per second' },
  },
  'generation-streams': {
    title: 'Reply tokens of all streams against their number',
    caption: 'Streams that start together, with prompts of 64 tokens. Higher is better.',
    x: { label: 'streams →', ticks: [1, 2, 4, 8], tickFormat: whole },
    y: { label: '↑ tokens per second' },
  },
  'generation-format': {
    title: 'SmolLM2-135M in several formats',
    caption: 'By the size of the file: Q4_0, Q4_1, Q4_K_M, Q8_0. Higher is better.',
    x: { label: 'MiB of the file →' },
    y: { label: '↑ tokens per second' },
  },
  'soak-latency': {
    title: 'Latency over the time of a soak',
    caption:
      '500 sessions of retrieval and generation, with clients that vanish, cancel and stall. Flat is good.',
    x: { label: 'minutes →', linear: true },
    y: { label: '↑ milliseconds' },
  },
  'soak-memory': {
    title: 'Memory that the server holds over the requests of a soak',
    caption: 'Anonymous and swapped memory after a garbage collection. Flat is good.',
    x: { label: 'thousand requests →', linear: true },
    y: { label: '↑ MiB' },
  },
  'open-size': {
    title: 'Open time against size',
    caption: 'From the call to the first answer, page cache warm. Lower is better.',
    x: { label: 'records →' },
    y: { label: '↑ milliseconds' },
  },
};

/** Recall is drawn by what is missing to 1, as 0.95, 0.99 and 0.999 would otherwise lie on one another. */
function unbeatenByMissed(points) {
  const placed = points.map(({ x, y }) => ({ x: Math.max(fewestMissed, 1 - x), y }));
  const beats = (a, b) => a !== b && a.x <= b.x && a.y >= b.y && (a.x < b.x || a.y > b.y);
  return placed.filter((point) => !placed.some((other) => beats(other, point))).sort((a, b) => b.x - a.x);
}

/** Charts that these trials' results give points for: [{name, ...chart, panels: [{title, series}]}]. */
export function chartsOf(trials) {
  const curves = trials.flatMap((trial) => trial.curves ?? []);
  const unknown = curves.find(({ chart }) => !(chart in charts));
  if (unknown)
    throw new Error(
      `a trial names the chart "${unknown.chart}"; there are ${Object.keys(charts).join(', ')}`,
    );
  return Object.entries(charts)
    .map(([name, chart]) => {
      const own = curves.filter((one) => one.chart === name);
      return { name, ...chart, panels: own.map((one) => panelOf(one, chart.points)) };
    })
    .filter(({ panels }) => panels.length > 0);
}

function panelOf({ panel, series }, placed = (points) => points) {
  const drawn = series.filter(({ points }) => points.length > 0);
  return { title: panel, series: drawn.map(({ name, points }) => ({ name, points: placed(points) })) };
}
