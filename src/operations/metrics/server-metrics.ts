import type { TurnFacts } from '../../agents/turn-facts.js';
import { type InferenceSources, modelFamilies, schedulerFamilies } from './inference-metrics.js';
import { LatencyHistogram, type LatencySeries } from './latency-histogram.js';
import { type AddSample, contentType, familyText, type MetricFamily } from './metric-family.js';
import { collectionSeconds, EventLoopDelays, processMetrics } from './process-metrics.js';

/** Sources of the gauges, read when they are scraped. */
export interface MetricsSources extends InferenceSources {
  connections(): { open: number; limit: number };
  sessions(): number;
  /** Length of each queue by name. */
  waiting(): Readonly<Record<string, number>>;
  /** Bytes that clients make the server hold, by kind. */
  memory(): { byKind: Readonly<Record<string, number>>; limit: number };
  storages(): { states: readonly string[]; bytes: number; hits: number; misses: number };
}

/** Counts by a label and an error code. */
class Tally implements MetricFamily {
  readonly type = 'counter';
  readonly name: string;
  readonly help: string;
  readonly #label: string;
  readonly #counts = new Map<string, Map<number, number>>();

  constructor(name: string, help: string, label: string) {
    this.name = `lorekeep_${name}`;
    this.help = help;
    this.#label = label;
  }

  add(name: string, code: number): void {
    const codes = this.#counts.get(name) ?? new Map<number, number>();
    if (codes.size === 0) this.#counts.set(name, codes);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }

  read = (add: AddSample): void => {
    for (const [name, codes] of this.#counts)
      for (const [code, count] of codes) add(count, { [this.#label]: name, code });
  };
}

/** The metrics of one server, in the text format of Prometheus. */
export class ServerMetrics {
  readonly #families: readonly MetricFamily[];
  readonly #delays = new EventLoopDelays();
  readonly #histograms: LatencyHistogram[] = [collectionSeconds()];
  readonly #requests = new Tally(
    'requests_total',
    'Answered requests by type and error code (0: none).',
    'type',
  );
  readonly #turns = new Tally('turns_total', 'Finished turns by status and error code (0: none).', 'status');
  /** Counts by error code. */
  readonly #refused = new Map<number, number>();
  readonly #requestSeconds: LatencyHistogram;
  readonly #nodeSeconds: LatencyHistogram;
  readonly #turnSeconds: LatencySeries;
  readonly #queueSeconds: LatencySeries;

  constructor(sources: MetricsSources) {
    const latency = (name: string, help: string, label?: string) => {
      const histogram = new LatencyHistogram(`lorekeep_${name}`, help, label);
      this.#histograms.push(histogram);
      return histogram;
    };
    this.#requestSeconds = latency('request_seconds', 'Time from parsing a request to its answer.', 'type');
    this.#turnSeconds = latency('turn_seconds', 'Time from the first node of a turn to its end.').series('');
    const queue = latency('turn_queue_seconds', 'Time that turns wait for earlier turns of their agent.');
    this.#queueSeconds = queue.series('');
    this.#nodeSeconds = latency('node_seconds', 'Time of a node in a turn, by node type.', 'type');
    const refused: MetricFamily = {
      type: 'counter',
      name: 'lorekeep_clients_refused_total',
      help: 'Clients turned away, by error code.',
      read: (add) => {
        for (const [code, count] of this.#refused) add(count, { code });
      },
    };
    this.#families = [...processMetrics(), this.#requests, refused, this.#turns, ...sourceFamilies(sources)];
  }

  get contentType(): string {
    return contentType;
  }

  async text(): Promise<string> {
    const families = await Promise.all([...this.#families, ...this.#delays.take()].map(familyText));
    return [...families, ...this.#histograms.map((histogram) => histogram.text())].join('\n');
  }

  request(type: string, code: number | undefined, durationMs: number): void {
    this.#requests.add(type, code ?? 0);
    this.#requestSeconds.series(type).observe(durationMs);
  }

  /** A frame that is no request: its type may be any text. */
  invalid(code: number): void {
    this.#requests.add('invalid', code);
  }

  refused(code: number): void {
    this.#refused.set(code, (this.#refused.get(code) ?? 0) + 1);
  }

  turn({ status, code, durationMs, queuedMs, nodes }: TurnFacts): void {
    this.#turns.add(status, code ?? 0);
    this.#turnSeconds.observe(durationMs);
    this.#queueSeconds.observe(queuedMs);
    for (const { type, duration_ms } of nodes) this.#nodeSeconds.series(type).observe(duration_ms);
  }
}

/** Families that are read from `sources`. */
function sourceFamilies(sources: MetricsSources): MetricFamily[] {
  const families: MetricFamily[] = [...schedulerFamilies(sources), ...modelFamilies(sources)];
  const gauge = (name: string, help: string, read: MetricFamily['read']) =>
    families.push({ type: 'gauge', name: `lorekeep_${name}`, help, read });
  gauge('connections', 'Open connections.', (add) => add(sources.connections().open));
  gauge('connections_limit', 'Limit of open connections.', (add) => add(sources.connections().limit));
  gauge('sessions', 'Open sessions.', (add) => add(sources.sessions()));
  gauge('waiting', 'Work that waits, by queue.', (add) => {
    for (const [queue, length] of Object.entries(sources.waiting())) add(length, { queue });
  });
  gauge('client_memory_bytes', 'Memory that the server holds for clients, by kind.', (add) => {
    for (const [kind, bytes] of Object.entries(sources.memory().byKind)) add(bytes, { kind });
  });
  gauge('client_memory_limit_bytes', 'Limit of the memory for clients.', (add) =>
    add(sources.memory().limit),
  );
  gauge('storages', 'Storages of knowledge bases by state.', (add) => {
    for (const state of ['Loading', 'Pinned', 'OnDemand'])
      add(sources.storages().states.filter((one) => one === state).length, { state });
  });
  gauge('storage_cache_bytes', 'Memory of the storages of knowledge bases.', (add) =>
    add(sources.storages().bytes),
  );
  families.push({
    type: 'counter',
    name: 'lorekeep_storage_cache_requests_total',
    help: 'Requests for a knowledge base, by whether it was loaded.',
    read: (add) => {
      const { hits, misses } = sources.storages();
      add(hits, { result: 'hit' });
      add(misses, { result: 'miss' });
    },
  });
  return families;
}
