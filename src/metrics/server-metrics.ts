import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { LanguageModelNumbers, SchedulerStats } from '../../lib/index.js';
import type { TurnFacts } from '../agents/turn-facts.js';
import { LatencyHistogram, type LatencySeries } from './latency-histogram.js';

/** What the gauges read when they are scraped. */
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

/** Counts by two labels. They reach the library when they are scraped, which makes counting ten times cheaper. */
class Tally {
  readonly #counts = new Map<string, Map<number, number>>();

  add(name: string, code: number): void {
    const codes = this.#counts.get(name) ?? new Map<number, number>();
    if (codes.size === 0) this.#counts.set(name, codes);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }

  write(counter: Counter, label: string): void {
    counter.reset();
    for (const [name, codes] of this.#counts)
      for (const [code, count] of codes) counter.inc({ [label]: name, code }, count);
  }
}

/** The metrics of one server, in the text format of Prometheus. */
export class ServerMetrics {
  readonly #registry = new Registry();
  readonly #requests = new Tally();
  readonly #turns = new Tally();
  readonly #refused: Counter;
  readonly #histograms: LatencyHistogram[] = [];
  readonly #requestSeconds: LatencyHistogram;
  readonly #nodeSeconds: LatencyHistogram;
  readonly #turnSeconds: LatencySeries;
  readonly #queueSeconds: LatencySeries;

  constructor(sources: MetricsSources) {
    const registers = [this.#registry];
    // Event-loop delay, garbage collection, memory, descriptors and CPU time of the process.
    collectDefaultMetrics({ register: this.#registry });
    const tally = (counts: Tally, name: string, help: string, label: string) =>
      new Counter({
        name: `lorekeep_${name}`,
        help,
        labelNames: [label, 'code'],
        registers,
        collect() {
          counts.write(this, label);
        },
      });
    const latency = (name: string, help: string, label?: string) => {
      const histogram = new LatencyHistogram(name, help, label);
      this.#histograms.push(histogram);
      return histogram;
    };
    tally(this.#requests, 'requests_total', 'Answered requests by type and error code (0: none).', 'type');
    this.#requestSeconds = latency('request_seconds', 'Time from parsing a request to its answer.', 'type');
    this.#refused = new Counter({
      name: 'lorekeep_clients_refused_total',
      help: 'Clients turned away, by error code.',
      labelNames: ['code'],
      registers,
    });
    tally(this.#turns, 'turns_total', 'Finished turns by status and error code (0: none).', 'status');
    this.#turnSeconds = latency('turn_seconds', 'Time from the first node of a turn to its end.').series('');
    const queue = latency('turn_queue_seconds', 'Time that turns wait for earlier turns of their agent.');
    this.#queueSeconds = queue.series('');
    this.#nodeSeconds = latency('node_seconds', 'Time of a node in a turn, by node type.', 'type');
    addGauges(this.#registry, sources);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    const text = await this.#registry.metrics();
    return `${text}${this.#histograms.map((histogram) => `\n${histogram.text()}`).join('')}`;
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
    this.#refused.inc({ code });
  }

  turn({ status, code, durationMs, queuedMs, nodes }: TurnFacts): void {
    this.#turns.add(status, code ?? 0);
    this.#turnSeconds.observe(durationMs);
    this.#queueSeconds.observe(queuedMs);
    for (const { type, duration_ms } of nodes) this.#nodeSeconds.series(type).observe(duration_ms);
  }
}

type AddGauge = (
  name: string,
  help: string,
  read: (gauge: Gauge) => void | Promise<void>,
  labelNames?: string[],
) => void;

function addGauges(registry: Registry, sources: MetricsSources): void {
  const registers = [registry];
  const gauge: AddGauge = (name, help, read, labelNames = []) =>
    new Gauge({
      name: `lorekeep_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        return read(this);
      },
    });
  addSchedulerGauges(gauge, sources);
  addModelGauges(gauge, sources);
  gauge('connections', 'Open connections.', (g) => g.set(sources.connections().open));
  gauge('connections_limit', 'Most open connections.', (g) => g.set(sources.connections().limit));
  gauge('sessions', 'Open sessions.', (g) => g.set(sources.sessions()));
  gauge(
    'waiting',
    'Work that waits, by queue.',
    (g) => {
      for (const [queue, length] of Object.entries(sources.waiting())) g.set({ queue }, length);
    },
    ['queue'],
  );
  gauge(
    'client_memory_bytes',
    'Memory that the server holds for clients, by kind.',
    (g) => {
      for (const [kind, bytes] of Object.entries(sources.memory().byKind)) g.set({ kind }, bytes);
    },
    ['kind'],
  );
  gauge('client_memory_limit_bytes', 'Limit of the memory for clients.', (g) =>
    g.set(sources.memory().limit),
  );
  gauge(
    'storages',
    'Storages of knowledge bases by state.',
    (g) => {
      for (const state of ['Loading', 'Pinned', 'OnDemand'])
        g.set({ state }, sources.storages().states.filter((one) => one === state).length);
    },
    ['state'],
  );
  gauge('storage_cache_bytes', 'Memory of the storages of knowledge bases.', (g) =>
    g.set(sources.storages().bytes),
  );
  gauge(
    'storage_cache_requests',
    'Requests for a knowledge base since the start, by whether it was loaded.',
    (g) => {
      const { hits, misses } = sources.storages();
      g.set({ result: 'hit' }, hits);
      g.set({ result: 'miss' }, misses);
    },
    ['result'],
  );
}

/** The KV cache of each loaded language model, and what of its prompts was in it. */
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
    gauge(
      name,
      help,
      async (g) => {
        for (const { name: model, numbers } of await models())
          if (numbers !== undefined) g.set({ model }, numbers[field]);
      },
      ['model'],
    );
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
    gauge(
      name,
      help,
      (g) => {
        const stats = scheduler();
        for (const one of classes) g.set({ class: wireName[one] }, stats[one][field] * scale);
      },
      ['class'],
    );
  byClass('generation_tokens', 'Generated tokens since the start, by class.', 'decodeTokens');
  byClass('prompt_tokens', 'Processed prompt tokens since the start, by class.', 'prefillTokens');
  byClass(
    'generation_longest_wait_seconds',
    'Longest wait of a request for a step, by class.',
    'longestWaitMs',
    0.001,
  );
  gauge('generations_running', 'Generations under way.', (g) => g.set(scheduler().running));
  gauge('generations_queued', 'Generations that wait for room in the cache.', (g) =>
    g.set(scheduler().queued),
  );
  gauge('throttle', 'The highest throttle level that a client reports.', (g) => g.set(scheduler().throttle));
  gauge('throttling_clients', 'Clients that report a throttle level.', (g) => g.set(throttling()));
}
