// Latencies by class and memory of the server, by interval.
import { percentile } from '../server-process.mjs';

/** Interval in ms at which the requests are looked at. */
const lookMs = 250;

export class Timeline {
  /** One per interval: {minutes, requests, memory (KiB), handles, latencies by class}. */
  samples = [];
  /** Memory in KiB after a collection of garbage: [{requests, memory}]. */
  held = [];
  #server;
  #crowd;
  #weighEvery;
  #timers;
  #begin = performance.now();
  /** The sample that is being taken. */
  #weighing;

  /**
   * `server`: of startServer(), with collect(), which collects its garbage. `everyMs`: length of an interval; `everyRequests`:
   * requests between two samples of the memory.
   */
  constructor(server, crowd, { everyMs, everyRequests }) {
    this.#weighEvery = everyRequests;
    this.#server = server;
    this.#crowd = crowd;
    this.#timers = [
      setInterval(() => this.#sample(), everyMs),
      setInterval(() => this.#weighWhenDue(), lookMs),
    ];
  }

  async end() {
    for (const timer of this.#timers) clearInterval(timer);
    this.#sample();
    await this.#weighing;
  }

  #weighWhenDue() {
    const { requests } = this.#crowd;
    if (this.#weighing !== undefined || requests < (this.held.at(-1)?.requests ?? 0) + this.#weighEvery)
      return;
    this.#weighing = this.#weigh(requests).finally(() => {
      this.#weighing = undefined;
    });
  }

  async #weigh(requests) {
    await this.#server.collect();
    this.held.push({ requests, memory: this.#memory() });
  }

  #memory() {
    const { anonymous, swapped } = this.#server.memory();
    return anonymous + swapped;
  }

  #sample() {
    const sample = {
      minutes: (performance.now() - this.#begin) / 60_000,
      requests: this.#crowd.requests,
      memory: this.#memory(),
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
    const held = this.held.at(-1)?.memory ?? Number.NaN;
    console.log(
      `${sample.minutes.toFixed(1).padStart(6)} min  ${String(sample.requests).padStart(7)} requests  ` +
        `${(sample.memory / 1024).toFixed(1)} MiB, ${(held / 1024).toFixed(1)} held  ${sample.handles} handles  p50/p99: ${slowest}`,
    );
  }

  /** The most anonymous and swapped memory of all samples, in KiB. */
  maxMemory() {
    return Math.max(...[...this.samples, ...this.held].map(({ memory }) => memory));
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
    const held = this.held.map(({ requests, memory }) => ({ x: requests / 1000, y: memory / 1024 }));
    return [
      { chart: 'soak-latency', panel: 'p50', series: series(0.5) },
      { chart: 'soak-latency', panel: 'p99', series: series(0.99) },
      { chart: 'soak-memory', panel: 'the server', series: [{ name: 'lorekeep', points: held }] },
    ];
  }

  #classes() {
    return [...new Set(this.samples.flatMap(({ latencies }) => Object.keys(latencies)))].sort();
  }
}
