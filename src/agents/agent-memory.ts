import type { VersionLimits } from '../../lib/internal.js';
import type { OpenedMemory } from '../protocol/memories.js';
import type { Memory, MemoryRules } from '../storages/memories/memory.js';

/** The memory of one `remember` node. */
export interface AgentMemory {
  readonly node: string;
  /** Name of the storage. */
  readonly storage: string;
  readonly memory: Memory;
  readonly rules: MemoryRules;
  /** The versions that the storage keeps. */
  versions(): VersionLimits;
  /** Importance of statements that state none. */
  readonly importance: number;
  /** Milliseconds that an action `forget` waits for the client. */
  readonly confirmMs: number;
  /** For CreateAgentResponse. */
  readonly opened: OpenedMemory;
  /** Releases it. */
  release(): Promise<void>;
  /** Releases it, and removes what was made for the agent. */
  undo(): Promise<void>;
}
