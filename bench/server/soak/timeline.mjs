// Latencies by class and memory of the server, by interval.
import { percentile } from '../server-process.mjs';

export class Timeline {
  /** One per interval: {minutes, requests, memory (KiB), handles, latencies by class}. */
  samples = [];
  #server;
  #crowd;
  #timer;
  #begin = performance.now();

  constructor(server, crowd, everyMs) {
    this.#server = server;
    this.#crowd = crowd;
    this.#timer = setInterval(() => this.#sample(), everyMs);
  }

  end() {
    clearInterval(this.#timer);
    this.#sample();
  }

  #sample() {
    const { anonymous, swapped } = this.#server.memory();
    const sample = {
      minutes: (performance.now() - this.#begin) / 60_000,
      requests: this.#crowd.requests,
      memory: anonymous + swapped,
      handles: this.#server.handles(),
      latencies: this.#crowd.takeLatencies(),
    };
    this.samples.push(sample);
    const slowest = Object.entries(sample.latencies)
      .map(
        ([name, list]) =>
          `${name} ${percentile(list, 0.5).toFixed(0)}/${percentile(list, 0.99).toFixed(0)} ms`,
      )
      .join(', ');
    console.log(
      `${sample.minutes.toFixed(1).padStart(6)} min  ${String(sample.requests).padStart(7)} requests  ` +
        `${(sample.memory / 1024).toFixed(1)} MiB  ${sample.handles} handles  p50/p99: ${slowest}`,
    );
  }

  /** First and last sample in MiB; growth and slope over the last two thirds, the slope per 1,000 requests, by least squares. */
  memory() {
    const late = this.samples.slice(Math.floor(this.samples.length / 3));
    const first = this.samples[0].memory / 1024;
    const last = this.samples.at(-1).memory / 1024;
    const slopeKiB = slope(late.map(({ requests, memory }) => ({ x: requests / 1000, y: memory })));
    const requests = late.at(-1).requests - late[0].requests;
    return { first, last, slopeKiB, grownMiB: (slopeKiB * requests) / 1000 / 1024 };
  }

  table() {
    const rows = this.#classes().map((name) => {
      const all = this.samples.flatMap(({ latencies }) => latencies[name] ?? []);
      return { name, count: all.length, p50: percentile(all, 0.5), p99: percentile(all, 0.99) };
    });
    const columns = [
      { key: 'name', label: 'class' },
      { key: 'count', label: 'requests', digits: 0 },
      { key: 'p50', label: 'p50 ms', digits: 1 },
      { key: 'p99', label: 'p99 ms', digits: 1 },
    ];
    return { id: 'soak', title: 'Latency by class, as clients see it', columns, rows };
  }

  curves() {
    const over = (name, share) =>
      this.samples
        .filter(({ latencies }) => (latencies[name]?.length ?? 0) > 0)
        .map(({ minutes, latencies }) => ({
          x: minutes,
          y: Math.max(0.01, percentile(latencies[name], share)),
        }));
    const series = (share) => this.#classes().map((name) => ({ name, points: over(name, share) }));
    const memory = this.samples.map(({ minutes, memory: kib }) => ({ x: minutes, y: kib / 1024 }));
    return [
      { chart: 'soak-latency', panel: 'p50', series: series(0.5) },
      { chart: 'soak-latency', panel: 'p99', series: series(0.99) },
      { chart: 'soak-memory', panel: 'the server', series: [{ name: 'lorekeep', points: memory }] },
    ];
  }

  #classes() {
    return [...new Set(this.samples.flatMap(({ latencies }) => Object.keys(latencies)))].sort();
  }
}

function slope(points) {
  const mean = (pick) => points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [x, y] = [mean((point) => point.x), mean((point) => point.y)];
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  if (spread === 0) return 0;
  return points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0) / spread;
}
