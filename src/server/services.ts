import type { BackendChoice } from '../../lib/internal.js';
import type { NodeTypes } from '../agents/graph.js';
import type { NodeLists } from '../agents/lists/node-lists.js';
import type { PatternThread } from '../agents/lists/pattern-thread.js';
import type { Activity } from '../base/waiting/activity.js';
import type { IdleTimer } from '../base/waiting/idle-timer.js';
import type { ServerConfig } from '../config/schema.js';
import type { Workers } from '../fairness/account.js';
import type { ConnectionSlots } from '../fairness/connection-slots.js';
import type { LoopScheduler } from '../fairness/loop-scheduler.js';
import type { ServerMemory } from '../fairness/server-memory.js';
import type { Log } from '../log/log.js';
import type { Catalog } from '../models/catalog.js';
import type { CatalogModels } from '../models/catalog-models.js';
import type { LanguageModels } from '../models/language-models.js';
import type { ModelMemory } from '../models/model-memory.js';
import type { ModelPulls } from '../models/model-pulls.js';
import type { Rerankers } from '../models/rerankers.js';
import type { Residency } from '../models/residency.js';
import type { SpeechModels } from '../models/speech-models.js';
import type { DebugChannel } from '../operations/debug/channel.js';
import type { SegmentDumps } from '../speech/segment-dumps.js';
import type { KeptSessions } from '../storages/kept-sessions/kept-sessions.js';
import type { KnowledgeBaseStorages } from '../storages/knowledge-base-storages.js';
import type { Memories } from '../storages/memories/memories.js';
import type { DeclaredStorages, SessionFolders } from '../storages/session-folders.js';
import type { AccessGate } from './access-gate.js';
import type { DescriptorReserve } from './descriptor-reserve.js';
import type { Forgetting } from './forgetting.js';
import type { ServerObserver } from './observer.js';
import type { ProxyProtocol } from './proxy-protocol.js';
import type { Throttle } from './throttle.js';
import type { VideoMemory } from './video-memory.js';

/** The models, for requests about them and for the monitor. */
export interface ModelServices {
  readonly catalog: Catalog;
  readonly models: CatalogModels;
  readonly languageModels: LanguageModels;
  readonly rerankers: Rerankers;
  readonly speech: SpeechModels;
  readonly pulls: ModelPulls;
  /** The owner of all models. */
  readonly residency: Residency;
  /** The budget of all models. */
  readonly modelMemory: ModelMemory;
  /** The GPU, if any, and why no other. */
  readonly backend: BackendChoice;
  /** Whether models may use the GPU. */
  readonly videoMemory: VideoMemory;
}

/** What sessions share, beside the models: files, node types, and access. */
export interface SessionServices {
  /** Told of records that are forgotten. */
  readonly forgetting: Forgetting;
  readonly files: KnowledgeBaseStorages;
  readonly folders: SessionFolders;
  /** Memories of agents that outlive sessions. */
  readonly memories: Memories;
  /** Sessions that outlive their server; undefined without a session_store. */
  readonly keptSessions: KeptSessions | undefined;
  /** Knowledge bases that the config shows at the doors. */
  readonly declared: DeclaredStorages;
  readonly lists: NodeLists;
  /** Searches for the patterns of guardrails. */
  readonly patterns: PatternThread;
  readonly nodeTypes: NodeTypes;
  readonly gate: AccessGate;
  /** Session ids are unique within a server, so that log lines are unambiguous. */
  nextSessionId(): string;
  /** Held by every session. */
  readonly sessionIdle: IdleTimer;
}

/** What connections share: their number, memory, the event loop, threads, and the throttle. */
export interface ConnectionServices {
  readonly slots: ConnectionSlots;
  /** Learns who the clients of balancers are. */
  readonly proxies: ProxyProtocol;
  readonly descriptors: DescriptorReserve;
  /** Memory that the server holds for clients. */
  readonly memory: ServerMemory;
  /** Shares the event loop among connections. */
  readonly loop: LoopScheduler;
  /** Slots of native threads. */
  readonly workers: Workers;
  /** Requests and turns under way. */
  readonly activity: Activity;
  /** How much clients want the inference to rest. */
  readonly throttle: Throttle;
}

/** The config and those who report about the server. */
export interface ReportServices {
  readonly config: ServerConfig;
  readonly log: Log;
  /** The server's version, as in Hello. */
  readonly version: string;
  /** Receives events; undefined if nobody listens. */
  readonly observer: ServerObserver | undefined;
  /** Serves debug commands; undefined unless they are enabled. */
  readonly debug: DebugChannel | undefined;
  /** Writes segments of speech to files; undefined unless `stt_debug_dump_dir` names a folder. */
  readonly dumps: SegmentDumps | undefined;
}

/** Shared parts of a running server, created by the composition root. A consumer takes the parts that it uses. */
export interface Services extends ModelServices, SessionServices, ConnectionServices, ReportServices {}
