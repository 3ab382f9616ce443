import { scheduler } from '../../lib/index.js';
import { configFields } from '../config/fields.js';
import type { ServerConfig } from '../config/schema.js';
import type {
  BackendState,
  ClientState,
  ConfigValue,
  MemorySample,
  ModelState,
  MonitorState,
} from '../monitor/state.js';
import { valueAt } from '../schema/field-issue.js';
import type { Connection } from './connection.js';
import type { Services } from './services.js';

/** What the monitor shows, apart from turns and the log. */
export function monitorState(
  services: Services,
  connections: ReadonlySet<Connection>,
  sources: ReadonlyMap<string, string>,
): MonitorState {
  const { config, files, memory, version } = services;
  return {
    version,
    pid: process.pid,
    uptimeSeconds: Math.round(process.uptime()),
    node: process.version,
    memory: memory.ledger.status,
    clients: [...connections].map((connection): ClientState => connection.state),
    storages: files.entries(),
    models: modelStates(services),
    backends: backendStates(services),
    waiting: waitingWork(services),
    scheduler: scheduler.stats(),
    config: configValues(config, sources),
    userContent: config.include_interaction_in_diagnostics,
  };
}

/** Work that waits, by queue. */
export function waitingWork({ searchThreads, builders, loop }: Services): Record<string, number> {
  return { requests: loop.waiting, search: searchThreads.waiting, build: builders.waiting };
}

export function memorySample({ memory, files }: Services): MemorySample {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { heldNow, passingNow } = memory.ledger;
  return {
    at: Date.now(),
    rss,
    heap: heapUsed,
    external,
    clients: heldNow.total + passingNow.total,
    storages: files.entries().reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function modelStates({ models }: Services): ModelState[] {
  return models.entries().map(({ entry, loaded }) => ({
    name: entry.name,
    type: entry.model_type,
    loaded: loaded?.isInMemory === true,
    ...(loaded !== undefined && {
      detail: `${loaded.facts.dimension} dimensions, ${loaded.facts.contextSize} tokens`,
    }),
  }));
}

function backendStates({ backend: { backend, device, candidates } }: Services): BackendState[] {
  return candidates.map(({ backend: name, state, reason }) => ({
    name,
    state,
    reason,
    ...(name === backend && device !== undefined && { totalBytes: device.totalBytes }),
  }));
}

/** Fields that hold secrets. */
const secret = /(^|_)(api_key|token|password)$/;

function configValues(config: ServerConfig, sources: ReadonlyMap<string, string>): ConfigValue[] {
  return configFields
    .filter(({ keys }) => !keys.some((key) => key.endsWith('[]')))
    .map(({ keys, path }) => ({
      path,
      value: withoutSecrets(valueAt(config, keys)),
      source: sources.get(path) ?? 'default',
    }));
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      secret.test(key) && part !== '' ? '(hidden)' : withoutSecrets(part),
    ]),
  );
}
