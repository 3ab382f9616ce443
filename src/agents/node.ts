import type { SlotShare } from '../lifecycle/fair-slots.js';
import type { Holding } from '../limits/client-memory.js';
import type { EngineDiagnostics } from '../protocol/frames.js';
import type { StorageRoot } from '../storages/storage-root.js';
import type { StorageSet } from '../storages/storage-set.js';
import type { Interaction } from './interaction.js';
import type { NodeLists } from './lists/node-lists.js';

/** What nodes take from the session that their agent is made in. */
export interface NodeResources {
  readonly storages: StorageSet;
  /** What the paths of text files start at. */
  readonly root: StorageRoot;
  readonly lists: NodeLists;
  /** The client's share of the threads that search. */
  readonly threads: SlotShare;
  /** What the agent holds; released with the agent. */
  readonly memory: Holding;
}

/** What a node tells about one run, beside its time. */
type NodeReport = Readonly<Record<string, unknown>>;

export interface NodeOutcome {
  readonly report?: NodeReport;
  /** What the engine did; never any text. */
  readonly engine?: EngineDiagnostics;
  /** Id of the node that the turn goes on with; one that the plan's `branch` names. */
  readonly jump?: string | undefined;
}

/** A node of a checked graph, holding what it needs until close(). */
export interface AgentNode {
  readonly id: string;
  readonly type: string;
  /** Reads and appends components. Runs of one agent never overlap. @throws the signal's reason, ServerError */
  run(interaction: Interaction, signal: AbortSignal): Promise<NodeOutcome>;
  close(): Promise<void>;
}

/** A node whose params are right, but which holds nothing yet. */
export interface NodePlan {
  readonly id: string;
  readonly type: string;
  /** The node that this one may lead to beside its edges, and the path of the param that says so. */
  readonly branch?: { readonly target: string; readonly path: string };
  /** Takes what the node needs from the session. @throws ServerError that names the param */
  open(resources: NodeResources): Promise<AgentNode>;
}

/** A kind of node. `where` is the node's path in the graph, for errors. */
export interface NodeType {
  /** Characters of templates that plan() parses: many of them are planned with pauses. */
  templateLength?(params: Record<string, unknown>): number;
  plan(id: string, params: Record<string, unknown>, where: string): NodePlan;
}

/** Rounds a duration to microseconds, the precision that clients see. */
export function milliseconds(duration: number): number {
  return Math.round(duration * 1000) / 1000;
}
