/** The parts of a server, made in the order of their dependencies. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type BackendChoice, scheduler, setSearchThreads, setThrottle } from '../../lib/internal.js';
import { NodeLists } from '../agents/lists/node-lists.js';
import { PatternThread } from '../agents/lists/pattern-thread.js';
import { loadNodeTypes } from '../agents/nodes/load.js';
import { ModelLimit } from '../base/machine/model-limit.js';
import { shellWord } from '../base/schema/shell-word.js';
import { Activity } from '../base/waiting/activity.js';
import type { IdleTimer } from '../base/waiting/idle-timer.js';
import { sessionFolders } from '../config/access.js';
import { readAccessToken } from '../config/access-token.js';
import { type Key, readKeys } from '../config/keys-file.js';
import {
  embeddingOptions,
  languageModelOptions,
  rerankerOptions,
  speechOptions,
} from '../config/model-options.js';
import { schedulerOptions } from '../config/scheduler-options.js';
import type { ServerConfig } from '../config/schema.js';
import { orStartupError } from '../config/startup-error.js';
import { ConnectionSlots } from '../fairness/connection-slots.js';
import { FairSlots } from '../fairness/fair-slots.js';
import { LoopScheduler } from '../fairness/loop-scheduler.js';
import type { OnForgotten } from '../knowledge/operator/operator-socket.js';
import { foundConfigRefusal, PostgresConnections } from '../knowledge/postgres/connections.js';
import type { Log } from '../log/log.js';
import { Catalog } from '../models/catalog.js';
import { CatalogModels } from '../models/catalog-models.js';
import { LanguageModels, type LanguageModelsOptions } from '../models/language-models.js';
import { ModelMemory } from '../models/model-memory.js';
import { ModelPulls } from '../models/model-pulls.js';
import { peersOf } from '../models/remote/open-remote.js';
import { Rerankers } from '../models/rerankers.js';
import { Residency } from '../models/residency.js';
import { SpeechModels, type SpeechModelsOptions } from '../models/speech-models.js';
import { KeptSessions } from '../storages/kept-sessions/kept-sessions.js';
import { KnowledgeBaseStorages } from '../storages/knowledge-base-storages.js';
import { Memories } from '../storages/memories/memories.js';
import { SessionFolders } from '../storages/session-folders.js';
import { AccessGate } from './access-gate.js';
import { serverMemory } from './admission.js';
import { chooseBackend } from './backend.js';
import { type ConnectionLimits, defaultLimits } from './connection-limits.js';
import { DescriptorReserve } from './descriptor-reserve.js';
import { Forgetting } from './forgetting.js';
import { memoriesFolder } from './memories-folder.js';
import { ownFiles } from './own-files.js';
import { ProxyProtocol } from './proxy-protocol.js';
import type { ConnectionServices, ModelServices, SessionServices } from './services.js';
import { storageVersions } from './storage-versions.js';
import { Throttle } from './throttle.js';
import { VideoMemory } from './video-memory.js';

/** Number of inline storages embedded at a time; each uses several threads. */
const buildersAtOnce = 2;

interface ModelsOptions {
  config: ServerConfig;
  configFile?: string | undefined;
  configSources: ReadonlyMap<string, string>;
  log: Log;
  /** Keeps the server from stopping for lack of sessions while a download runs. */
  hold: () => () => void;
  loadLanguageModel?: LanguageModelsOptions['load'];
  loadRecogniser?: SpeechModelsOptions['load'];
  /** Default: the one that the config names. */
  catalog?: Catalog;
  /** Whether nobody named the config that names the catalog. Default: false. */
  catalogIsFound?: boolean | undefined;
}

/** Reads the catalog, chooses the device, and makes the owner of models. @throws StartupError for a catalog that is missing or invalid */
export async function composeModels(options: ModelsOptions): Promise<ModelServices> {
  const { config, configFile, log } = options;
  const catalog = options.catalog ?? (await readCatalog(options));
  setSearchThreads(config.thread_count);
  scheduler.configure(schedulerOptions(config));
  log.info({ threads: config.thread_count }, 'search threads');
  const backend = await chooseBackend(config, options.configSources, log);
  const buildFlags =
    configFile !== undefined && existsSync(configFile) ? `--config ${shellWord(configFile)}` : undefined;
  catalog.commandFlags = buildFlags;
  const limit = new ModelLimit(config.models_cache_max_mb);
  const modelMemory = new ModelMemory({
    limit: (device, loaded, quiet) =>
      device === 'CPU' ? limit.bytes(loaded, quiet) : gpuBytes(backend, device, config),
  });
  catalog.room = () => modelMemory.use.find(({ device }) => device === 'CPU')?.limit;
  const residency = new Residency(catalog, { log, memory: modelMemory });
  peersOf(catalog).log = log;
  const embedding = { ...embeddingOptions(config), gpu: backend.device?.name, buildFlags };
  const generating = { ...languageModelOptions(config), load: options.loadLanguageModel };
  const maxBytes = config.models_download_max_mb * 1024 * 1024;
  const pulls = new ModelPulls(catalog, { maxBytes, log, hold: options.hold });
  if (config.allow_model_pulls) await pulls.prepare();
  return {
    catalog,
    models: new CatalogModels(catalog, embedding, residency),
    languageModels: new LanguageModels(residency, generating),
    rerankers: new Rerankers(residency, rerankerOptions(config)),
    speech: new SpeechModels(residency, { ...speechOptions(config), load: options.loadRecogniser }),
    residency,
    pulls,
    modelMemory,
    backend,
    videoMemory: new VideoMemory(async (allowed) => {
      await residency.allowGpu(allowed);
      log.info(
        allowed ? 'models may use the GPU again' : 'models have left the GPU: a client needs its memory',
      );
    }),
  };
}

async function readCatalog({ config, log, catalogIsFound = false }: ModelsOptions): Promise<Catalog> {
  const catalog = await orStartupError(Catalog.load(config.models_catalog_path, config.models_download_dir));
  catalog.downloads.minSpeed = config.models_download_min_speed;
  catalog.mayAskOthers = !catalogIsFound;
  for (const warning of catalog.warnings) log.warn(warning);
  return catalog;
}

/** Returns the memory of the GPU that models may take: the free memory when it was found, less the reserve. */
function gpuBytes({ device }: BackendChoice, name: string, { engines }: ServerConfig): number | undefined {
  if (device === undefined || device.name !== name) return undefined;
  return Math.max(0, device.freeBytes - engines.llm_engine.vram_reserve_mb * 1024 * 1024);
}

const bytesPerMiB = 1024 * 1024;

interface SessionsOptions {
  config: ServerConfig;
  configFile?: string | undefined;
  log: Log;
  accessToken?: string | undefined;
  storageRoot: string;
  sessionIdle: IdleTimer;
  models: CatalogModels;
  catalog: Catalog;
  connections?: PostgresConnections | undefined;
  /** Whether nobody named the config. Default: false. */
  configIsFound?: boolean | undefined;
}

/** Makes what sessions share. @throws StartupError for an access token that cannot be read */
export async function composeSessions(options: SessionsOptions): Promise<SessionServices> {
  const { config, log, models } = options;
  const forgetting = new Forgetting(log);
  const patterns = new PatternThread();
  const connections = options.connections ?? (await declaredConnections(options));
  const onForgotten: OnForgotten = (forgotten) => forgetting.forget(forgotten);
  let sessions = 0;
  const folders = new SessionFolders({
    storageRoot: options.storageRoot,
    open: sessionFolders(config),
    own: ownFiles(config, options.configFile, options.catalog),
    readOnly: config.read_only_storages,
  });
  return {
    forgetting,
    files: new KnowledgeBaseStorages({
      models,
      log,
      connections,
      versions: () => storageVersions(config),
      growth: () => ({
        all: config.storage_writes_max_mb * bytesPerMiB,
        client: config.storage_writes_client_max_mb * bytesPerMiB,
      }),
      onForgotten,
      maxBytes: config.storage_cache_max_mb * 1024 * 1024,
      readOnly: config.read_only_storages,
    }),
    folders,
    memories: new Memories({
      root: memoriesFolder(config),
      models,
      log,
      writes: () => config.storage_writes,
      limits: () => ({
        all: config.memories_max_mb * bytesPerMiB,
        client: config.memories_client_max_mb * bytesPerMiB,
      }),
      onForgotten,
    }),
    keptSessions: await keptSessions(config, connections, log),
    declared: folders.declared(config.http.storages),
    lists: new NodeLists(config, patterns.join()),
    patterns,
    nodeTypes: await loadNodeTypes(),
    gate: await configuredGate(config, log, options.accessToken),
    nextSessionId: () => `s${++sessions}`,
    sessionIdle: options.sessionIdle,
  };
}

/** Makes the connections that the config declares. @throws StartupError for settings that contradict each other */
function declaredConnections({
  config,
  configFile,
  configIsFound,
}: SessionsOptions): Promise<PostgresConnections> {
  const folder = configFile === undefined ? undefined : dirname(configFile);
  const refusal = configIsFound ? foundConfigRefusal : undefined;
  const make = async () => new PostgresConnections(config.connections, { folder, refusal });
  return orStartupError(make());
}

/** Makes the store of the sessions that outlive this server, if the config names one. @throws StartupError */
function keptSessions(
  { session_store: store }: ServerConfig,
  connections: PostgresConnections,
  log: Log,
): Promise<KeptSessions | undefined> {
  const make = async () => {
    if (store.connection === '') return undefined;
    return new KeptSessions({
      client: connections.writer(store.connection, 'session_store.connection'),
      table: store.table,
      expiryHours: store.expiry_hours,
      maxSessions: store.max_sessions,
      maxPerAddress: store.max_sessions_per_address,
      maxBytes: store.max_session_mb * bytesPerMiB,
      log,
    });
  };
  return orStartupError(make());
}

/** Reserves one of several threads for clients with short searches, so that these do not wait for long ones. */
function searchSlots(threads: number): FairSlots {
  const reserved = Math.min(1, threads - 1);
  return new FairSlots(threads - reserved, reserved);
}

/** Returns the token of `access_token_file`; undefined if the config names none. @throws StartupError */
export async function configuredToken(
  { access_token_file }: ServerConfig,
  log: Log,
): Promise<string | undefined> {
  if (access_token_file === '') return undefined;
  const { token, warnings } = await readAccessToken(access_token_file, 'access_token_file');
  for (const warning of warnings) log.warn(warning);
  return token;
}

/** Makes the gate of the config's access token and keys. @throws StartupError */
async function configuredGate(
  config: ServerConfig,
  log: Log,
  spare: string | undefined,
): Promise<AccessGate> {
  const gate = new AccessGate(await configuredToken(config, log), undefined, spare);
  gate.replaceKeys(await configuredKeys(config, log));
  return gate;
}

/** Returns the keys of `http.keys_file`; none if the config names none. @throws StartupError */
export async function configuredKeys({ http }: ServerConfig, log: Log): Promise<readonly Key[]> {
  if (http.keys_file === '') return [];
  const { keys, warnings } = await readKeys(http.keys_file, 'http.keys_file');
  for (const warning of warnings) log.warn(warning);
  return keys;
}

/** Makes what connections share. */
export function composeConnections(config: ServerConfig, log: Log): ConnectionServices {
  return {
    slots: new ConnectionSlots(config.limits),
    proxies: new ProxyProtocol({ balancers: config.proxy_protocol, log }),
    descriptors: new DescriptorReserve(),
    memory: serverMemory(config, log),
    loop: new LoopScheduler(),
    workers: {
      search: searchSlots(config.thread_count),
      build: new FairSlots(buildersAtOnce),
      others: new WeakMap(),
    },
    activity: new Activity(),
    throttle: new Throttle(setThrottle),
  };
}

/** The limits of a connection that the config has now: a reload may change them. */
export function connectionLimits({ limits }: ServerConfig): ConnectionLimits {
  const {
    frame_timeout_ms: frameMs,
    unread_timeout_ms: stallMs,
    idle_connection_timeout_ms: idleMs,
  } = limits;
  return { ...defaultLimits, frameMs, stallMs, idleMs };
}
