import type { LanguageModelNumbers, PrefixPart, SchedulerStats } from '../../../lib/internal.js';
import type { KnowledgeBaseFacts } from '../../knowledge/index.js';
import type { BudgetStatus } from '../../protocol/frames.js';

export interface AgentState {
  id: string;
  /** Types of its nodes, in order. */
  nodes: string[];
  /** Turns under way and waiting. */
  turns: number;
}

export interface SessionState {
  id: string;
  /** Names of its storages. */
  storages: string[];
  agents: AgentState[];
}

export interface ClientState {
  address: string;
  memory: BudgetStatus;
  sessionCount: number;
  /** The first of them, as long as the state has room. */
  sessions: SessionState[];
}

export interface ModelState {
  name: string;
  type: string;
  /** Whether it is in memory, and whether its file is there. */
  loaded: boolean;
  present: boolean;
  detail?: string;
}

/** A language model in memory. */
export interface LanguageModelState {
  name: string;
  contextSize: number;
  /** Undefined for a runtime that has no cells. */
  numbers?: LanguageModelNumbers | undefined;
  /** The tree of the prefixes in its KV cache, each part before the parts that continue it. Without texts. */
  prefixes?: PrefixPart[] | undefined;
}

export interface BackendState {
  name: string;
  /** Such as "chosen" or "file missing". */
  state: string;
  reason: string;
  /** Memory of the device in use, in bytes. */
  totalBytes?: number;
}

export interface ConfigValue {
  path: string;
  value: unknown;
  /** The value without any file, flag or variable. */
  default: unknown;
  /** "default", "file", or the flag or variable that set it. */
  source: string;
  /** Its meaning. */
  meaning: string;
}

/** The server as the page shows it. */
export interface MonitorState {
  version: string;
  pid: number;
  uptimeSeconds: number;
  node: string;
  memory: BudgetStatus;
  /** Those that hold the most memory. */
  clients: ClientState[];
  /** Number of all clients. */
  clientCount: number;
  storages: KnowledgeBaseFacts[];
  models: ModelState[];
  /** The backends that were considered for models. */
  backends: BackendState[];
  /** Bytes that models take and may take, by device. */
  modelMemory: { device: string; used: number; limit?: number | undefined }[];
  /** Length of each queue by name. */
  waiting: Record<string, number>;
  /** Counts of the scheduler of language models. */
  scheduler: SchedulerStats;
  languageModels: readonly LanguageModelState[];
  config: ConfigValue[];
  /** Whether texts of users may be shown. */
  userContent: boolean;
  /** Whether the actions of the page need the access token or a key. */
  needSecret: boolean;
  /** The turns of the last hour. */
  pulse: Pulse;
}

/** The turns of the last hour. Durations in ms, from the request to the end. */
export interface Pulse {
  turns: number;
  failed: number;
  cancelled: number;
  /** Half of the turns, and 19 of 20, were not longer; within 10 %. */
  p50: number;
  p95: number;
  /** Generated tokens. */
  tokens: number;
  /** Turns by minute, the present one last. */
  minutes: { turns: number; failed: number }[];
}

export interface MemorySample {
  /** ms since 1970. */
  at: number;
  rss: number;
  heap: number;
  external: number;
  clients: number;
  storages: number;
  /** Main memory of loaded models, and their budget. */
  models: number;
}
