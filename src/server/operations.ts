import type { ServerConfig } from '../config/schema.js';
import { packageVersion } from '../files/home.js';
import type { LocalServer } from '../http/local-server.js';
import type { Log } from '../log/log.js';
import { metricsRoutes, openMetrics } from '../metrics/endpoint.js';
import type { ServerMetrics } from '../metrics/server-metrics.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { allOf, type ServerObserver } from './observer.js';
import type { Services } from './services.js';

/** What tells operators about the server: telemetry and metrics. What is switched off is not even loaded. */
export class Operations {
  /** Undefined if nobody listens. */
  readonly observer: ServerObserver | undefined;
  readonly #telemetry: Telemetry | undefined;
  readonly #servers: LocalServer[] = [];
  #services: Services | undefined;

  private constructor(telemetry: Telemetry | undefined, metrics: ServerMetrics | undefined) {
    this.#telemetry = telemetry;
    this.observer = allOf([telemetry, metrics && metricsObserver(metrics)]);
  }

  /** Opens the HTTP port. It answers before clients can connect. @throws StartupError */
  static async open(config: ServerConfig, log: Log): Promise<Operations> {
    const environment = process.env;
    const telemetry = Telemetry.open({
      config: config.telemetry,
      environment,
      version: packageVersion,
      log,
    });
    if (!config.metrics.enabled) return new Operations(telemetry, undefined);
    const { ServerMetrics } = await import('../metrics/server-metrics.js');
    const metrics = new ServerMetrics({
      connections: () => ({
        open: operations.#services?.slots.total ?? 0,
        limit: config.limits.max_connections,
      }),
      sessions: () => operations.#services?.sessionIdle.holds ?? 0,
      waiting: () => ({
        search: operations.#services?.searchThreads.waiting ?? 0,
        build: operations.#services?.builders.waiting ?? 0,
        requests: operations.#services?.loop.waiting ?? 0,
      }),
      memory: () => ({
        byKind: operations.#services?.memory.ledger.byKind ?? {},
        limit: operations.#services?.memory.limits.server.total ?? 0,
      }),
      storages: () => {
        const files = operations.#services?.files;
        const entries = files?.entries() ?? [];
        const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
        const { requests, loads } = files?.counts ?? { requests: 0, loads: 0 };
        return { states: entries.map(({ state }) => state), bytes, hits: requests - loads, misses: loads };
      },
    });
    const operations = new Operations(telemetry, metrics);
    const isReady = () => operations.#services?.activity.stopping === false;
    operations.#servers.push(await openMetrics(config.metrics, metricsRoutes(metrics, isReady), log));
    return operations;
  }

  /** Port of `/metrics`; undefined if it is off. */
  get metricsPort(): number | undefined {
    return this.#servers[0]?.port;
  }

  /** From now on `/ready` says yes. */
  serve(services: Services): void {
    this.#services = services;
  }

  async close(): Promise<void> {
    await Promise.all([this.#telemetry?.close(), ...this.#servers.map((server) => server.close())]);
  }
}

function metricsObserver(metrics: ServerMetrics): ServerObserver {
  return {
    turn: (facts) => metrics.turn(facts),
    request: ({ type, code, durationMs }) => metrics.request(type, code, durationMs),
    refused: (code) => metrics.refused(code),
  };
}
