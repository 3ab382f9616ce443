import type { NodeDiagnostics } from '../protocol/frames.js';
import type { StorageSet } from '../storages/storage-set.js';
import type { Interaction } from './interaction.js';

/** What a node tells about one run, beside its time. */
export type NodeReport = Omit<NodeDiagnostics, 'node' | 'type' | 'duration_ms'>;

/** A node of a checked graph, holding what it needs until close(). */
export interface AgentNode {
  readonly id: string;
  readonly type: string;
  /** Reads and appends components. Runs of one agent never overlap. @throws the signal's reason, ServerError */
  run(interaction: Interaction, signal: AbortSignal): Promise<NodeReport>;
  close(): Promise<void>;
}

/** A node whose params are right, but which holds nothing yet. */
export interface NodePlan {
  readonly id: string;
  readonly type: string;
  /** Takes what the node needs from the session. @throws ServerError that names the param */
  open(storages: StorageSet): Promise<AgentNode>;
}

/** A kind of node. `where` is the node's path in the graph, for errors. */
export interface NodeType {
  plan(id: string, params: Record<string, unknown>, where: string): NodePlan;
}
