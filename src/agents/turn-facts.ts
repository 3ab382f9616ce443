import type { DebugInfo, NodeDiagnostics } from '../protocol/frames.js';
import type { Component } from './interaction.js';

/** A finished turn, for the operator's counters. Not for clients. */
export interface TurnFacts {
  readonly turn: string;
  readonly status: 'completed' | 'cancelled' | 'failed';
  /** Error code of a failed turn. */
  readonly code: number | undefined;
  /** Time waiting for earlier turns of the agent, in ms. */
  readonly queuedMs: number;
  /** Time from the first node to the end, in ms. */
  readonly durationMs: number;
  /** The nodes that ran, in order. */
  readonly nodes: readonly NodeDiagnostics[];
  /** Returns the engine's diagnostics of the nodes that have some. Computed by the first call; may be kept, since it holds no text of the turn. */
  engine(): readonly DebugInfo['nodes'][number][];
  /** Number of nodes that were not due. */
  readonly skipped: number;
  /** Number of knowledge components. */
  readonly hits: number;
  readonly citations: number;
  readonly components: readonly Component[];
  /** The user's text. */
  readonly message: string;
  readonly reply: string;
}

export type TurnObserver = (facts: TurnFacts) => void;
