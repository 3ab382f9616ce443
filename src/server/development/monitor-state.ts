import { scheduler } from '../../../lib/internal.js';
import { bytesPerMiB } from '../../base/machine/mebibytes.js';
import { valueAt } from '../../base/schema/field-issue.js';
import { configFields } from '../../config/fields.js';
import { configSchema, type ServerConfig } from '../../config/schema.js';
import type {
  BackendState,
  ClientState,
  ConfigValue,
  MemorySample,
  ModelState,
  MonitorState,
} from '../../operations/monitor/state.js';
import type { Connection } from '../connection.js';
import type { ModelServices, Services } from '../services.js';
import { waitingWork } from '../waiting-work.js';

/** Maximum number of clients, and of sessions, that a page shows: a server may have many thousands. */
const maxClients = 200;
const maxSessions = 500;

/** The state that the monitor shows, apart from turns and the log. */
export async function monitorState(
  services: Services,
  connections: ReadonlySet<Connection>,
  sources: ReadonlyMap<string, string>,
): Promise<Omit<MonitorState, 'pulse'>> {
  const languageModels = await services.languageModels.states();
  const { config, files, memory, version } = services;
  return {
    version,
    pid: process.pid,
    uptimeSeconds: Math.round(process.uptime()),
    node: process.version,
    memory: memory.ledger.status,
    clients: clientStates(connections),
    clientCount: connections.size,
    storages: files.cache.entries(),
    models: modelStates(services),
    backends: backendStates(services),
    modelMemory: services.modelMemory.use,
    waiting: waitingWork(services),
    scheduler: scheduler.stats(),
    languageModels,
    config: configValues(config, sources),
    userContent: config.include_interaction_in_diagnostics,
    needSecret: services.gate.closesDoors,
  };
}

function clientStates(connections: ReadonlySet<Connection>): ClientState[] {
  let room = maxSessions;
  return [...connections]
    .map((connection) => ({ connection, memory: connection.budget }))
    .toSorted((a, b) => b.memory.held - a.memory.held)
    .slice(0, maxClients)
    .map(({ connection, memory }): ClientState => {
      const { address, sessionCount } = connection;
      const sessions = connection.sessionStates(room);
      room -= sessions.length;
      return { address, memory, sessionCount, sessions };
    });
}

export function memorySample({
  memory,
  files,
  modelMemory,
}: Pick<Services, 'memory' | 'files' | 'modelMemory'>): MemorySample {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { heldNow, passingNow } = memory.ledger;
  return {
    at: Date.now(),
    rss,
    heap: heapUsed,
    external,
    clients: heldNow.total + passingNow.total,
    storages: files.cache.entries().reduce((sum, { bytes }) => sum + bytes, 0),
    models: modelMemory.used('CPU'),
  };
}

function modelStates(services: ModelServices): ModelState[] {
  const loaded = new Map(services.residency.inMemory.map((model) => [model.name, model]));
  return services.catalog.entries.map(({ name, model_type: type, variants }) => {
    const model = loaded.get(name);
    const present = variants.some((variant) => services.catalog.pathOf(variant).present);
    if (model === undefined) return { name, type, loaded: false, present };
    const facts = [
      ...(model.dimension === undefined ? [] : [`${model.dimension} dimensions`]),
      `${model.contextSize} tokens`,
      `${Math.ceil(model.bytes / bytesPerMiB)} MiB`,
      model.device,
    ];
    return { name, type, loaded: true, present, detail: facts.join(', ') };
  });
}

function backendStates({ backend: { backend, device, candidates } }: ModelServices): BackendState[] {
  return candidates.map(({ backend: name, state, reason }) => ({
    name,
    state,
    reason,
    ...(name === backend && device !== undefined && { totalBytes: device.totalBytes }),
  }));
}

/** Fields that hold secrets. */
const secret = /(^|_)(api_key|token|password)$/;
/** Name and password in an address. */
const userOfUrl = /^(\s*[a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i;

function configValues(config: ServerConfig, sources: ReadonlyMap<string, string>): ConfigValue[] {
  const defaults = configSchema.parse({});
  return configFields
    .filter(({ keys }) => !keys.some((key) => key.endsWith('[]')))
    .map(({ keys, path, schema }) => ({
      path,
      meaning: schema.description ?? '',
      value: withoutSecrets(valueAt(config, keys)),
      default: withoutSecrets(valueAt(defaults, keys)),
      source: sources.get(path) ?? 'default',
    }));
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value === 'string') return value.replace(userOfUrl, '$1(hidden)@');
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      secret.test(key) && part !== '' ? '(hidden)' : withoutSecrets(part),
    ]),
  );
}
