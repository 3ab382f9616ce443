import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { scheduler } from '../../lib/internal.js';
import { homeFolder, packageVersion } from '../base/files/home.js';
import { IdleTimer } from '../base/waiting/idle-timer.js';
import { accessNotes, requireSecret } from '../config/access.js';
import type { LoadedConfig } from '../config/load.js';
import { type ConfigChanges, configChanges, takeOver } from '../config/reread.js';
import { schedulerOptions } from '../config/scheduler-options.js';
import type { ServerConfig } from '../config/schema.js';
import type { DoorHost, PageSource } from '../doors/host.js';
import type { HttpDoors } from '../doors/http-doors.js';
import type { OpenPage } from '../doors/page/entry.js';
import type { Ledger } from '../fairness/ledger.js';
import type { EntryFacts } from '../knowledge/index.js';
import type { PostgresConnections } from '../knowledge/postgres/connections.js';
import { type Log, setLogLevel } from '../log/log.js';
import type { Catalog } from '../models/catalog.js';
import type { CatalogModels } from '../models/catalog-models.js';
import type { LanguageModelsOptions } from '../models/language-models.js';
import type { SpeechModelsOptions } from '../models/speech-models.js';
import type { DebugChannel } from '../operations/debug/channel.js';
import type { LogTail } from '../operations/monitor/log-tail.js';
import { serverError } from '../protocol/errors.js';
import { SegmentDumps } from '../speech/segment-dumps.js';
import { admit } from './admission.js';
import {
  composeConnections,
  composeModels,
  composeSessions,
  configuredKeys,
  configuredToken,
  connectionLimits,
} from './compose.js';
import type { Connection } from './connection.js';
import type { ConnectionLimits } from './connection-limits.js';
import { Listener } from './listener.js';
import type { ServerObserver } from './observer.js';
import { Operations } from './operations.js';
import type { Services } from './services.js';
import { socketPair } from './socket-pair.js';
import { WatchedFolders } from './watched-folders.js';

export interface ServerOptions {
  config: ServerConfig;
  /** Path of the config, even if absent. No client may open it. */
  configFile?: string | undefined;
  log: Log;
  limits?: Partial<ConnectionLimits>;
  /** The source of each field that is not at its default, for the monitor. */
  configSources?: ReadonlyMap<string, string>;
  /** The latest lines of the log, for the monitor. */
  logTail?: LogTail | undefined;
  /** The access token while no `access_token_file` is configured. */
  accessToken?: string | undefined;
  /** Called after `idle_shutdown_timeout` without a session and without a download. */
  onIdle?: () => void;
  /** Loads language models. Default: the library's. */
  loadLanguageModel?: LanguageModelsOptions['load'];
  /** Loads recognisers of speech; tests replace it. */
  loadRecogniser?: SpeechModelsOptions['load'];
  /** The models. Default: the catalog that the config names. */
  catalog?: Catalog;
  /** Whether a config in the current folder names the catalog, which nobody named: no other server is asked. Default: false. */
  catalogIsFound?: boolean | undefined;
  /** Databases that knowledge bases may name. Default: those that the config declares. */
  connections?: PostgresConnections | undefined;
  /** Whether nobody named the config, which lies in the current folder: its connections are refused. Default: false. */
  configIsFound?: boolean | undefined;
  /** Whether it opens its port. Default true; without, only attach() and the doors make clients. */
  listen?: boolean;
  /** Whether it opens the doors that the config switches on. Default: as `listen`. */
  doors?: boolean;
  /** The places of the page for people. Default: the storages of the config. */
  page?: PageSource | undefined;
}

/** The ways into a server. */
interface Entrances {
  /** Undefined for a server without a port. */
  readonly listener: Listener | undefined;
  readonly accept: (socket: Socket) => void;
  readonly doors: HttpDoors | undefined;
  readonly folders: WatchedFolders;
}

/** The composition root: creates the parts of a server, listens, and closes everything. */
export class LorekeepServer {
  /** Undefined for a server without a port. */
  readonly #listener: Listener | undefined;
  readonly #accept: (socket: Socket) => void;
  readonly #services: Services;
  readonly #connections: Set<Connection>;
  readonly #operations: Operations;
  readonly #sources: Map<string, string>;
  readonly #doors: HttpDoors | undefined;
  readonly #folders: WatchedFolders;
  #closing: Promise<void> | undefined;

  private constructor(
    services: Services,
    { listener, accept, doors, folders }: Entrances,
    connections: Set<Connection>,
    operations: Operations,
    sources: Map<string, string>,
  ) {
    this.#doors = doors;
    this.#folders = folders;
    this.#sources = sources;
    this.#services = services;
    this.#listener = listener;
    this.#accept = accept;
    this.#connections = connections;
    this.#operations = operations;
  }

  /** Resolves when clients can connect. @throws StartupError for a busy port, or a missing or invalid catalog or access token */
  static async start(options: ServerOptions): Promise<LorekeepServer> {
    const {
      config,
      log,
      limits,
      configSources = new Map(),
      listen = true,
      doors: opensDoors = listen,
    } = options;
    const storageRoot = config.storage_root || homeFolder;
    const sessionIdle = new IdleTimer(config.idle_shutdown_timeout * 1000, options.onIdle ?? (() => {}));
    const models = await composeModels({ ...options, configSources, hold: () => sessionIdle.hold() });
    if (listen) reportAccess(config, storageRoot, log, options.accessToken);
    const sources = new Map(configSources);
    const operations = await Operations.create({
      config,
      configSources: sources,
      log,
      logTail: options.logTail,
    });
    const base = {
      ...models,
      ...(await composeSessions({
        ...options,
        ...{ storageRoot, sessionIdle, models: models.models, catalog: models.catalog },
      })),
      ...composeConnections(config, log),
      config,
      log,
      version: packageVersion,
      observer: operations.observer,
      dumps: config.stt_debug_dump_dir === '' ? undefined : new SegmentDumps(config.stt_debug_dump_dir, log),
    };
    base.forgetting.tell(async (texts) => operations.observer?.forgotten?.(texts));
    base.forgetting.tell(async ({ written }) => base.languageModels.forget(written));
    const connections = new Set<Connection>();
    const debug = config.debug_commands.enabled ? await openDebug(base, connections) : undefined;
    const services: Services = { ...base, debug };
    const accept = (socket: Socket) => {
      const connection = admit(socket, services, { ...connectionLimits(config), ...limits });
      if (connection === undefined) return;
      connections.add(connection);
      void connection.closed.finally(() => connections.delete(connection));
    };
    const { port, network_access: access } = config;
    let listener: Listener | undefined;
    let doors: HttpDoors | undefined;
    const httpTells = () => httpAnswer(config, doors);
    try {
      await operations.listen(services, connections);
      if (opensDoors && (config.http.enabled || config.http.page))
        doors = await openDoors(services, connections, { limits, page: options.page });
      const { proxies } = services;
      if (listen)
        listener = await Listener.open({ port, access, log, proxies, accept, httpAnswer: httpTells });
    } catch (error) {
      await doors?.close();
      await operations.close();
      throw error;
    }
    const folders = new WatchedFolders({ config, models: models.models, cache: services.files.cache, log });
    if (listener !== undefined)
      log.info({ ...listener.address, access, embeddingModels: models.models.presentNames }, 'listening');
    return new LorekeepServer(
      services,
      { listener, accept, doors, folders },
      connections,
      operations,
      sources,
    );
  }

  /** The port it listens on, also if the config has 0; 0 without a port. */
  get port(): number {
    return this.#listener?.address.port ?? 0;
  }

  /** Makes a client in this process and returns its end of the connection. */
  attach(): Duplex {
    const [own, client] = socketPair();
    this.#accept(own);
    return client;
  }

  /** The server as a door in this process sees it. */
  async doorHost(): Promise<DoorHost> {
    const { doorHost } = await import('./door-host.js');
    return doorHost(this.#services, this.#connections);
  }

  /** The embedding models, for work in this process. */
  get embeddingModels(): CatalogModels {
    return this.#services.models;
  }

  /** Port of the HTTP doors; undefined if they are off. */
  get httpPort(): number | undefined {
    return this.#doors?.port;
  }

  /** The page for people; undefined if it is off. */
  get page(): OpenPage | undefined {
    return this.#doors?.page;
  }

  /** Port of `/metrics`; undefined if it is off. */
  get metricsPort(): number | undefined {
    return this.#operations.metricsPort;
  }

  /** Receives events; undefined if nobody listens. */
  get observer(): ServerObserver | undefined {
    return this.#services.observer;
  }

  /** Port of the monitor; undefined if it is off. */
  get monitorPort(): number | undefined {
    return this.#operations.monitorPort;
  }

  /**
   * Takes over the fields of a config that was loaded again, as far as a running server can: all or, if it throws, none.
   * @throws StartupError for an access token or keys that cannot be read, and if other machines would need none of them
   */
  async reload(next: Pick<LoadedConfig, 'config' | 'sources'>): Promise<ConfigChanges> {
    const { config, folders, gate, log } = this.#services;
    const token = await configuredToken(next.config, log);
    const keys = await configuredKeys(next.config, log);
    if (this.#doors !== undefined) requireSecret(config.http, gate.wouldCloseDoors(token, keys));
    const changes = configChanges(config, this.#sources, next);
    takeOver(changes.taken, next.config, config);
    folders.ownFilesChanged();
    gate.replace(token);
    gate.replaceKeys(keys);
    setLogLevel(log, config.log_level);
    scheduler.configure(schedulerOptions(config));
    for (const { path } of changes.taken) {
      const source = next.sources.get(path);
      if (source === undefined) this.#sources.delete(path);
      else this.#sources.set(path, source);
    }
    return changes;
  }

  /** Number of connections, including those whose sessions are still closing. */
  get connections(): number {
    return this.#connections.size;
  }

  /** Memory that the server holds for clients. */
  get memory(): Ledger {
    return this.#services.memory.ledger;
  }

  /** State, pins and bytes of the storages from files. */
  get storages(): EntryFacts[] {
    return this.#services.files.cache.entries();
  }

  /**
   * Refuses new clients and new work, waits at most `drain_timeout_ms`, and at most `longestDrainMs`, for work under way,
   * and closes. A second call and close() do not wait.
   */
  async stop(longestDrainMs = Number.POSITIVE_INFINITY): Promise<void> {
    const { activity, config, log, pulls } = this.#services;
    const limitMs = Math.min(config.limits.drain_timeout_ms, longestDrainMs);
    if (activity.stopping) return this.close();
    void this.#listener?.close();
    this.#services.proxies.close();
    this.#doors?.stopAccepting();
    void pulls.stop();
    const { running } = activity;
    if (running > 0) log.info({ running, limitMs }, 'draining');
    const drained = await activity.drain(limitMs);
    if (!drained) log.warn({ running: activity.running }, 'cancelling requests that did not end in time');
    return this.close();
  }

  /** Refuses new clients, ends every session, and closes the models. A second call waits for the same end. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    const reason = serverError(1008, 'the server is stopping');
    const unlistened = this.#listener?.close();
    this.#services.proxies.close();
    this.#services.sessionIdle.stop();
    const patternsEnded = this.#services.patterns.close();
    await Promise.all([
      ...[...this.#connections].map((connection) => connection.close(reason)),
      this.#doors?.close(),
    ]);
    await unlistened;
    await this.#operations.close();
    await this.#services.pulls.stop();
    await this.#folders.close();
    this.#services.keptSessions?.close();
    await this.#services.files.close();
    await patternsEnded;
    await this.#services.residency.close();
    this.#services.log.info('stopped');
  }
}

/** Loads the code of debug commands, which the production edition lacks. */
async function openDebug(
  services: Omit<Services, 'debug'>,
  connections: ReadonlySet<Connection>,
): Promise<DebugChannel> {
  const { openDebugChannel } = await import('./development/debug-channel.js');
  return openDebugChannel(services, connections);
}

/** Tells a client that sends HTTP to the TCP port where HTTP is spoken. */
function httpAnswer({ http, monitor, metrics }: ServerConfig, doors: HttpDoors | undefined): string {
  const scheme = http.tls_cert === '' ? 'http' : 'https';
  const others = [
    doors === undefined
      ? 'The HTTP doors are off: lorekeep serve --http opens them.'
      : `HTTP and WebSocket: ${scheme}://${http.bind}:${doors.port}/v1/`,
    ...(monitor.enabled ? [`Monitor: http://${monitor.bind}:${monitor.port}/`] : []),
    ...(metrics.enabled ? [`Metrics: http://${metrics.bind}:${metrics.port}/metrics`] : []),
  ];
  return ['This port of lorekeep speaks frames over TCP, not HTTP.', ...others].join('\n');
}

/** Loads the code of the HTTP doors and opens them. @throws StartupError */
async function openDoors(
  services: Services,
  connections: Set<Connection>,
  options: { limits: Partial<ConnectionLimits> | undefined; page: PageSource | undefined },
): Promise<HttpDoors> {
  const [{ HttpDoors }, { doorHost }] = await Promise.all([
    import('../doors/http-doors.js'),
    import('./door-host.js'),
  ]);
  return HttpDoors.open(doorHost(services, connections, options));
}

/** Logs which access is open to whom, and warns of probable mistakes. */
function reportAccess(config: ServerConfig, storageRoot: string, log: Log, token?: string): void {
  const secret = config.access_token_file !== '' || token !== undefined;
  for (const { field, message, remedy } of accessNotes(config, storageRoot, secret)) {
    if (remedy === undefined) log.info(`${field}: ${message}`);
    else log.warn(`${field}: ${message}; ${remedy}`);
  }
}
