import type { LanguageModelNumbers, SchedulerStats } from '../../lib/index.js';
import type { TurnFacts } from '../agents/turn-facts.js';
import { LatencyHistogram, type LatencySeries } from './latency-histogram.js';
import { type AddSample, contentType, familyText, type MetricFamily } from './metric-family.js';
import { collectionSeconds, processMetrics } from './process-metrics.js';

/** Sources of the gauges, read when they are scraped. */
export interface MetricsSources {
  connections(): { open: number; limit: number };
  sessions(): number;
  /** Length of each queue by name. */
  waiting(): Readonly<Record<string, number>>;
  /** Bytes that clients make the server hold, by kind. */
  memory(): { byKind: Readonly<Record<string, number>>; limit: number };
  scheduler(): SchedulerStats;
  /** Number of clients that report a throttle level. */
  throttling(): number;
  /** Loaded language models. */
  languageModels(): Promise<readonly { name: string; numbers?: LanguageModelNumbers | undefined }[]>;
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
  readonly #histograms: LatencyHistogram[] = [collectionSeconds()];
  readonly #requests = new Tally(
    'requests_total',
    'Answered requests by type and error code (0: none).',
    'type',
  );
  readonly #turns = new Tally('turns_total', 'Finished turns by status and error code (0: none).', 'status');
  /** By error code. */
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
    this.#families = [...processMetrics(), this.#requests, refused, this.#turns, ...gauges(sources)];
  }

  get contentType(): string {
    return contentType;
  }

  async text(): Promise<string> {
    const families = await Promise.all(this.#families.map(familyText));
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

type AddGauge = (name: string, help: string, read: MetricFamily['read']) => void;

function gauges(sources: MetricsSources): MetricFamily[] {
  const families: MetricFamily[] = [];
  const gauge: AddGauge = (name, help, read) =>
    families.push({ type: 'gauge', name: `lorekeep_${name}`, help, read });
  addSchedulerGauges(gauge, sources);
  addModelGauges(gauge, sources);
  gauge('connections', 'Open connections.', (add) => add(sources.connections().open));
  gauge('connections_limit', 'Most open connections.', (add) => add(sources.connections().limit));
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
  gauge(
    'storage_cache_requests',
    'Requests for a knowledge base since the start, by whether it was loaded.',
    (add) => {
      const { hits, misses } = sources.storages();
      add(hits, { result: 'hit' });
      add(misses, { result: 'miss' });
    },
  );
  return families;
}

/** The KV cache of each loaded language model, and its hits by prompt tokens. */
function addModelGauges(gauge: AddGauge, { languageModels }: MetricsSources): void {
  let reading: ReturnType<typeof languageModels> | undefined;
  // The gauges of one scrape share one reading, which waits for a step of the inference thread.
  const models = () => {
    reading ??= languageModels().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const byModel = (name: string, help: string, field: keyof LanguageModelNumbers) =>
    gauge(name, help, async (add) => {
      for (const { name: model, numbers } of await models())
        if (numbers !== undefined) add(numbers[field], { model });
    });
  byModel('model_cells', 'Tokens that the KV cache of a language model holds at most.', 'cells');
  byModel('model_cells_used', 'Tokens in the KV cache of a language model.', 'cellsUsed');
  byModel('model_prompt_tokens', 'Tokens of all prompts since the model was loaded.', 'promptTokens');
  byModel('model_cached_prompt_tokens', 'Those of them that were in the KV cache.', 'cachedTokens');
}

/** Counts since the start; Prometheus makes tokens per second of them. */
function addSchedulerGauges(gauge: AddGauge, { scheduler, throttling }: MetricsSources): void {
  const classes = ['interactiveVisible', 'interactiveBuffered', 'background'] as const;
  const wireName = {
    interactiveVisible: 'interactive_visible',
    interactiveBuffered: 'interactive_buffered',
    background: 'background',
  };
  const byClass = (
    name: string,
    help: string,
    field: 'decodeTokens' | 'prefillTokens' | 'longestWaitMs',
    scale = 1,
  ) =>
    gauge(name, help, (add) => {
      const stats = scheduler();
      for (const one of classes) add(stats[one][field] * scale, { class: wireName[one] });
    });
  byClass('generation_tokens', 'Generated tokens since the start, by class.', 'decodeTokens');
  byClass('prompt_tokens', 'Processed prompt tokens since the start, by class.', 'prefillTokens');
  byClass(
    'generation_longest_wait_seconds',
    'Longest wait of a request for a step, by class.',
    'longestWaitMs',
    0.001,
  );
  gauge('generations_running', 'Generations under way.', (add) => add(scheduler().running));
  gauge('generations_queued', 'Generations that wait for room in the cache.', (add) =>
    add(scheduler().queued),
  );
  gauge('throttle', 'The highest throttle level that a client reports.', (add) => add(scheduler().throttle));
  gauge('throttling_clients', 'Clients that report a throttle level.', (add) => add(throttling()));
}
