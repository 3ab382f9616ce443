import { scheduler } from '../../lib/internal.js';
import { packageVersion } from '../base/files/home.js';
import { peersOf } from '../models/remote/open-remote.js';
import type { LocalServer } from '../operations/http/local-server.js';
import type { OperatorShare } from '../operations/http/operator-share.js';
import { metricsRoutes, openMetrics } from '../operations/metrics/endpoint.js';
import type { ServerMetrics } from '../operations/metrics/server-metrics.js';
import type { Monitor } from '../operations/monitor/monitor.js';
import { Telemetry } from '../operations/telemetry/telemetry.js';
import type { Connection } from './connection.js';
import { allOf, type ServerObserver } from './observer.js';
import type { OperationsOptions } from './operations-options.js';
import { operatorShare } from './operator-share.js';
import type { Services } from './services.js';
import { waitingWork } from './waiting-work.js';

/** Reports to operators: telemetry, metrics and the monitor. The code of disabled parts is not loaded. */
export class Operations {
  /** Undefined if neither metrics nor the monitor nor telemetry is on. */
  readonly observer: ServerObserver | undefined;
  readonly #options: OperationsOptions;
  readonly #telemetry: Telemetry | undefined;
  readonly #metrics: ServerMetrics | undefined;
  #endpoint: LocalServer | undefined;
  #monitor: Monitor | undefined;
  #services: Services | undefined;
  #share: OperatorShare | undefined;

  private constructor(options: OperationsOptions, Metrics: typeof ServerMetrics | undefined) {
    const { config, log } = options;
    this.#options = options;
    this.#telemetry = Telemetry.open({
      config: config.telemetry,
      environment: process.env,
      version: packageVersion,
      log,
    });
    this.#metrics = Metrics && this.#createMetrics(Metrics);
    this.observer = allOf([
      this.#telemetry,
      this.#metrics && metricsObserver(this.#metrics),
      config.monitor.enabled
        ? {
            turn: (facts) => this.#monitor?.turn(facts),
            forgotten: async (texts) => this.#monitor?.forgotten(texts),
          }
        : undefined,
    ]);
  }

  /** Loads the parts that the config enables. None of them listens yet. */
  static async create(options: OperationsOptions): Promise<Operations> {
    const { metrics, monitor } = options.config;
    if (!metrics.enabled && !monitor.enabled) return new Operations(options, undefined);
    const { ServerMetrics } = await import('../operations/metrics/server-metrics.js');
    return new Operations(options, ServerMetrics);
  }

  /** Port of `/metrics`; undefined if it is off. */
  get metricsPort(): number | undefined {
    return this.#endpoint?.port;
  }

  /** Port of the monitor; undefined if it is off. */
  get monitorPort(): number | undefined {
    return this.#monitor?.port;
  }

  /** Opens the HTTP ports. @throws StartupError */
  async listen(services: Services, connections: ReadonlySet<Connection>): Promise<void> {
    this.#services = services;
    if (this.#metrics === undefined) return;
    const { config, log } = this.#options;
    const routes = metricsRoutes(this.#metrics, () => !services.activity.stopping);
    const share = operatorShare(services.loop, services.workers.search);
    this.#share = share;
    if (config.metrics.enabled) this.#endpoint = await openMetrics(config.metrics, routes, { log, share });
    if (!config.monitor.enabled) return;
    // Not in the production edition.
    const { openMonitor } = await import('./development/open-monitor.js');
    this.#monitor = await openMonitor({ ...this.#options, services, connections, routes, share });
  }

  async close(): Promise<void> {
    await Promise.all([this.#telemetry?.close(), this.#endpoint?.close(), this.#monitor?.close()]);
    this.#share?.leave();
  }

  #createMetrics(Metrics: typeof ServerMetrics): ServerMetrics {
    return new Metrics({
      connections: () => ({
        open: this.#services?.slots.total ?? 0,
        limit: this.#options.config.limits.max_connections,
      }),
      sessions: () => this.#services?.sessionIdle.holds ?? 0,
      waiting: () => (this.#services === undefined ? {} : waitingWork(this.#services)),
      memory: () => ({
        byKind: this.#services?.memory.ledger.byKind ?? {},
        limit: this.#services?.memory.limits.server.total ?? 0,
      }),
      scheduler: () => scheduler.stats(),
      throttling: () => this.#services?.throttle.reporting ?? 0,
      languageModels: async () => (await this.#services?.languageModels.states()) ?? [],
      remoteModels: () => (this.#services === undefined ? [] : peersOf(this.#services.catalog).states()),
      storages: () => {
        const files = this.#services?.files.cache;
        const entries = files?.entries() ?? [];
        const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
        const { requests, loads } = files?.counts ?? { requests: 0, loads: 0 };
        return { states: entries.map(({ state }) => state), bytes, hits: requests - loads, misses: loads };
      },
    });
  }
}

function metricsObserver(metrics: ServerMetrics): ServerObserver {
  return {
    turn: (facts) => metrics.turn(facts),
    request: ({ type, code, durationMs }) => metrics.request(type, code, durationMs),
    invalid: (code) => metrics.invalid(code),
    refused: (code) => metrics.refused(code),
  };
}
