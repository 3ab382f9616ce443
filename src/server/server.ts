import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { type BackendChoice, scheduler, setSearchThreads, setThrottle } from '../../lib/internal.js';
import { NodeLists } from '../agents/lists/node-lists.js';
import { PatternThread } from '../agents/lists/pattern-thread.js';
import { loadNodeTypes } from '../agents/nodes/load.js';
import { homeFolder, packageVersion } from '../base/files/home.js';
import { ModelLimit } from '../base/machine/model-limit.js';
import { shellWord } from '../base/schema/shell-word.js';
import { Activity } from '../base/waiting/activity.js';
import { IdleTimer } from '../base/waiting/idle-timer.js';
import { accessNotes, sessionFolders } from '../config/access.js';
import { readAccessToken } from '../config/access-token.js';
import type { LoadedConfig } from '../config/load.js';
import { embeddingOptions, languageModelOptions, rerankerOptions } from '../config/model-options.js';
import { type ConfigChanges, configChanges, takeOver } from '../config/reread.js';
import { schedulerOptions } from '../config/scheduler-options.js';
import type { ServerConfig } from '../config/schema.js';
import { orStartupError } from '../config/startup-error.js';
import { storageRootProblem } from '../config/storage-root-problem.js';
import { ConnectionSlots } from '../fairness/connection-slots.js';
import { FairSlots } from '../fairness/fair-slots.js';
import type { Ledger } from '../fairness/ledger.js';
import { LoopScheduler } from '../fairness/loop-scheduler.js';
import type { EntryFacts } from '../knowledge/index.js';
import { type Log, setLogLevel } from '../log/log.js';
import { Catalog } from '../models/catalog.js';
import { CatalogModels } from '../models/catalog-models.js';
import { LanguageModels, type LanguageModelsOptions } from '../models/language-models.js';
import { ModelMemory } from '../models/model-memory.js';
import { ModelPulls } from '../models/model-pulls.js';
import { Rerankers } from '../models/rerankers.js';
import type { DebugChannel } from '../operations/debug/channel.js';
import type { LogTail } from '../operations/monitor/log-tail.js';
import { serverError } from '../protocol/errors.js';
import { KnowledgeBaseStorages } from '../storages/knowledge-base-storages.js';
import { SessionFolders } from '../storages/session-folders.js';
import { AccessGate } from './access-gate.js';
import { admit, serverMemory } from './admission.js';
import { chooseBackend } from './backend.js';
import type { Connection } from './connection.js';
import { type ConnectionLimits, defaultLimits } from './connection-limits.js';
import { DescriptorReserve } from './descriptor-reserve.js';
import { Listener } from './listener.js';
import type { ServerObserver } from './observer.js';
import { Operations } from './operations.js';
import { ownFiles } from './own-files.js';
import type { Services } from './services.js';
import { Throttle } from './throttle.js';
import { VideoMemory } from './video-memory.js';

/** Number of inline storages embedded at a time; each uses several threads. */
const buildersAtOnce = 2;

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
}

/** The composition root: creates the parts of a server, listens, and closes everything. */
export class LorekeepServer {
  readonly #listener: Listener;
  readonly #services: Services;
  readonly #connections: ReadonlySet<Connection>;
  readonly #operations: Operations;
  readonly #sources: Map<string, string>;
  #closing: Promise<void> | undefined;

  private constructor(
    services: Services,
    listener: Listener,
    connections: ReadonlySet<Connection>,
    operations: Operations,
    sources: Map<string, string>,
  ) {
    this.#sources = sources;
    this.#services = services;
    this.#listener = listener;
    this.#connections = connections;
    this.#operations = operations;
  }

  /** Resolves when clients can connect. @throws StartupError for a busy port, or a missing or invalid catalog or access token */
  static async start({
    config,
    configFile,
    log,
    limits,
    configSources = new Map(),
    logTail,
    accessToken,
    onIdle = () => {},
    loadLanguageModel,
  }: ServerOptions): Promise<LorekeepServer> {
    const catalog = await orStartupError(
      Catalog.load(config.models_catalog_path, config.models_download_dir),
    );
    catalog.downloads.minSpeed = config.models_download_min_speed;
    for (const warning of catalog.warnings) log.warn(warning);
    const storageRoot = config.storage_root || homeFolder;
    reportAccess(config, storageRoot, log, accessToken);
    setSearchThreads(config.thread_count);
    scheduler.configure(schedulerOptions(config));
    log.info({ threads: config.thread_count }, 'search threads');
    const backend = await chooseBackend(config, configSources, log);
    const buildFlags =
      configFile !== undefined && existsSync(configFile) ? `--config ${shellWord(configFile)}` : undefined;
    catalog.commandFlags = buildFlags;
    const limit = new ModelLimit(config.models_cache_max_mb);
    const modelMemory = new ModelMemory({
      limit: (device, loaded, quiet) =>
        device === 'CPU' ? limit.bytes(loaded, quiet) : gpuBytes(backend, device, config),
    });
    const shared = { log, memory: modelMemory };
    const models = new CatalogModels(catalog, {
      ...embeddingOptions(config),
      ...shared,
      gpu: backend.device?.name,
      buildFlags,
    });
    const sources = new Map(configSources);
    const operations = await Operations.create({ config, configSources: sources, log, logTail });
    catalog.room = () => modelMemory.use.find(({ device }) => device === 'CPU')?.limit;
    const sessionIdle = new IdleTimer(config.idle_shutdown_timeout * 1000, onIdle);
    let sessions = 0;
    const languageModels = new LanguageModels(catalog, {
      ...languageModelOptions(config),
      ...shared,
      load: loadLanguageModel,
    });
    const patterns = new PatternThread();
    const base: Omit<Services, 'debug'> = {
      config,
      models,
      languageModels,
      backend,
      catalog,
      pulls: new ModelPulls(catalog, {
        maxBytes: config.models_download_max_mb * 1024 * 1024,
        log,
        hold: () => sessionIdle.hold(),
      }),
      rerankers: new Rerankers(catalog, { ...rerankerOptions(config), ...shared }),
      modelMemory,
      files: new KnowledgeBaseStorages({
        models,
        log,
        maxBytes: config.storage_cache_max_mb * 1024 * 1024,
        readOnly: config.read_only_storages,
      }),
      lists: new NodeLists(config, patterns.join()),
      patterns,
      nodeTypes: await loadNodeTypes(),
      folders: new SessionFolders({
        storageRoot,
        open: sessionFolders(config),
        own: ownFiles(config, configFile),
        readOnly: config.read_only_storages,
      }),
      gate: new AccessGate(await configuredToken(config, log), undefined, accessToken),
      log,
      version: packageVersion,
      nextSessionId: () => `s${++sessions}`,
      descriptors: new DescriptorReserve(),
      loop: new LoopScheduler(),
      searchThreads: searchSlots(config.thread_count),
      builders: new FairSlots(buildersAtOnce),
      activity: new Activity(),
      memory: serverMemory(config, log),
      slots: new ConnectionSlots(config.limits),
      observer: operations.observer,
      throttle: new Throttle(setThrottle),
      videoMemory: new VideoMemory(async (allowed) => {
        await Promise.all([languageModels.allowGpu(allowed), models.allowGpu(allowed)]);
        log.info(
          allowed ? 'models may use the GPU again' : 'models have left the GPU: a client needs its memory',
        );
      }),
      sessionIdle,
    };
    if (config.allow_model_pulls) await base.pulls.prepare();
    const connections = new Set<Connection>();
    const debug = config.debug_commands.enabled ? await openDebug(base, connections) : undefined;
    const services: Services = { ...base, debug };
    const accept = (socket: Socket) => {
      const {
        frame_timeout_ms: frameMs,
        unread_timeout_ms: stallMs,
        idle_connection_timeout_ms: idleMs,
      } = config.limits;
      const connection = admit(socket, services, { ...defaultLimits, frameMs, stallMs, idleMs, ...limits });
      if (connection === undefined) return;
      connections.add(connection);
      void connection.closed.finally(() => connections.delete(connection));
    };
    const { port, network_access: access } = config;
    let listener: Listener;
    try {
      await operations.listen(services, connections);
      listener = await Listener.open({ port, access, log, accept });
    } catch (error) {
      await operations.close();
      throw error;
    }
    log.info({ ...listener.address, access, embeddingModels: models.presentNames }, 'listening');
    return new LorekeepServer(services, listener, connections, operations, sources);
  }

  /** The port it listens on, also if the config has 0. */
  get port(): number {
    return this.#listener.address.port;
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
   * @throws StartupError for an access token that cannot be read
   */
  async reload(next: Pick<LoadedConfig, 'config' | 'sources'>): Promise<ConfigChanges> {
    const { config, folders, gate, log } = this.#services;
    const token = await configuredToken(next.config, log);
    const changes = configChanges(config, this.#sources, next);
    takeOver(changes.taken, next.config, config);
    folders.ownFilesChanged();
    gate.replace(token);
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
    void this.#listener.close();
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
    const unlistened = this.#listener.close();
    this.#services.sessionIdle.stop();
    const patternsEnded = this.#services.patterns.close();
    await Promise.all([...this.#connections].map((connection) => connection.close(reason)));
    await unlistened;
    await this.#operations.close();
    await this.#services.pulls.stop();
    await this.#services.files.close();
    await this.#services.languageModels.close();
    await this.#services.rerankers.close();
    await patternsEnded;
    await this.#services.models.close();
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

/** Reserves one of several threads for clients with short searches, so that these do not wait for long ones. */
function searchSlots(threads: number): FairSlots {
  const reserved = Math.min(1, threads - 1);
  return new FairSlots(threads - reserved, reserved);
}

/** Returns the memory of the GPU that models may take: the free memory when it was found, less the reserve. */
function gpuBytes({ device }: BackendChoice, name: string, { engines }: ServerConfig): number | undefined {
  if (device === undefined || device.name !== name) return undefined;
  return Math.max(0, device.freeBytes - engines.llm_engine.vram_reserve_mb * 1024 * 1024);
}

/** @throws StartupError */
async function configuredToken({ access_token_file }: ServerConfig, log: Log): Promise<string | undefined> {
  if (access_token_file === '') return undefined;
  const { token, warnings } = await readAccessToken(access_token_file, 'access_token_file');
  for (const warning of warnings) log.warn(warning);
  return token;
}

/** Logs which access is open to whom, and warns of probable mistakes. */
function reportAccess(config: ServerConfig, storageRoot: string, log: Log, token?: string): void {
  const problem = storageRootProblem(storageRoot);
  if (problem !== undefined) log.warn(`storage_root: ${storageRoot} ${problem}`);
  const secret = config.access_token_file !== '' || token !== undefined;
  for (const { field, message, remedy } of accessNotes(config, storageRoot, secret)) {
    if (remedy === undefined) log.info(`${field}: ${message}`);
    else log.warn(`${field}: ${message}; ${remedy}`);
  }
}
