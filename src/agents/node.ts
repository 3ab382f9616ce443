import type { Account } from '../fairness/account.js';
import type { Holding } from '../fairness/client-memory.js';
import type { LanguageModels } from '../models/language-models.js';
import type { Rerankers } from '../models/rerankers.js';
import type { EngineDiagnostics } from '../protocol/engine.js';
import type { OnForgotten } from '../storages/changes.js';
import type { StorageRoot } from '../storages/storage-root.js';
import type { StoragePin, StorageSet } from '../storages/storage-set.js';
import type { AgentMemory } from './agent-memory.js';
import type { Interaction } from './interaction.js';
import type { NodeLists } from './lists/node-lists.js';
import type { PatternShare } from './lists/pattern-thread.js';

/** Resources of an agent's session, for its nodes. */
export interface NodeResources {
  readonly storages: StorageSet;
  /** The root for paths of text files. */
  readonly root: StorageRoot;
  readonly lists: NodeLists;
  readonly languageModels: LanguageModels;
  readonly rerankers: Rerankers;
  /** Of the session's client. */
  readonly account: Account;
  /** Has everything else lose the texts of records that the client has forgotten. */
  readonly onForgotten: OnForgotten;
  /** The client's share of the thread that searches for patterns. */
  readonly patterns: PatternShare;
  /** Memories of the agent, by the ids of their nodes. Filled before nodes are opened. */
  readonly memories: Map<string, AgentMemory>;
  /** Whether the client learns what CreateAgentResponse says. A door may keep it. */
  readonly attended: boolean;
  /** Memory counted for the agent; released with it. */
  readonly memory: Holding;
  /** Aborted when the session ends: a node that is being opened stops. */
  readonly signal: AbortSignal;
}

/** A node's diagnostics of one run, besides its time. */
type NodeReport = Readonly<Record<string, unknown>>;

export interface NodeOutcome {
  readonly report?: NodeReport;
  /**
   * Returns the engine's diagnostics for a run of `duration` ms; they never contain text. The function is kept after the run,
   * so it must not hold results or the node.
   */
  readonly engine?: (duration: number) => EngineDiagnostics;
  /** Id of the node that the turn continues with: the target of the plan's `branch`. */
  readonly jump?: string | undefined;
}

/** A node of a checked graph, with its resources until close(). */
export interface AgentNode {
  readonly id: string;
  readonly type: string;
  /** Name in the graph of the storage that it searches or changes. */
  readonly storage?: string;
  /** The storage that it searches. Not to be released by others. */
  readonly searched?: StoragePin;
  /** Reads and appends components. Runs in one agent never overlap. @throws the signal's reason, ServerError */
  run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome>;
  close(): Promise<void>;
}

/** A node with valid params, not opened yet. */
export interface NodePlan {
  readonly id: string;
  readonly type: string;
  /** The node that this one may jump to, and the path of the param that names it. */
  readonly branch?: { readonly target: string; readonly path: string };
  /** Turns of the agent's history that the node uses. Default: none. */
  readonly historyTurns?: number;
  /** A node of the graph that this one needs: its id and type, and the path of the param that names it. */
  readonly needs?: { readonly id: string; readonly type: string; readonly path: string } | undefined;
  /** Makes what other nodes open. Called for all nodes before any is opened. @throws as open() */
  prepare?(resources: NodeResources): Promise<void>;
  /** Opens the node with resources of the session. @throws ServerError that names the param; the signal's reason */
  open(resources: NodeResources): Promise<AgentNode>;
}

/** A node type. `where`: the node's path in the graph, for errors. */
export interface NodeType {
  /** Returns the characters of templates that plan() parses, which decide whether planning needs pauses. */
  templateLength?(params: Record<string, unknown>): number;
  plan(id: string, params: Record<string, unknown>, where: string): NodePlan;
}
