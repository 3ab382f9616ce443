import type { TurnFacts } from '../../agents/turn-facts.js';
import type { DebugInfo, NodeDiagnostics } from '../../protocol/frames.js';

/** A finished turn, as the page shows it. */
export interface TurnRecord {
  /** Increases by 1 from turn to turn. */
  readonly seq: number;
  readonly turn: string;
  /** End of the turn, in ms since 1970. */
  readonly at: number;
  readonly status: TurnFacts['status'];
  readonly code?: number;
  readonly queuedMs: number;
  readonly durationMs: number;
  readonly nodes: readonly NodeDiagnostics[];
  /** Diagnostics of the engine, for some of them. */
  readonly engine: readonly DebugInfo['nodes'][number][];
  readonly skipped: number;
  readonly hits: number;
  readonly citations: number;
  readonly messageLength: number;
  readonly replyLength: number;
  /** With `include_interaction_in_diagnostics`. */
  readonly components?: readonly object[];
  /** Whether components are missing because they are too long. */
  readonly shortened?: true;
}

/** A turn of the ring. */
export interface KeptTurn {
  readonly seq: number;
  /** A TurnRecord: turns are kept to be sent. */
  readonly json: string;
}

/** Turns that have ended, as a page gets them. */
export interface TurnsEvent {
  /** Changes with a restart of the server, which counts from 1 again. */
  readonly instance: string;
  readonly turns: readonly TurnRecord[];
}
