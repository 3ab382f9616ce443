import type { TurnFacts } from '../../agents/turn-facts.js';
import type { DebugInfo, NodeDiagnostics } from '../../protocol/frames.js';

/** Why and where a turn failed, in words. */
export interface FailureRecord {
  readonly name: string;
  /** What the code means, and what to do. */
  readonly meaning: string;
  readonly remedy: string;
  readonly path?: string;
  readonly node?: { readonly id: string; readonly type: string };
  /** The client's message, which may quote its texts: with `include_interaction_in_diagnostics`. */
  readonly message?: string;
}

/** A finished turn, as the page shows it. */
export interface TurnRecord {
  /** Increases by 1 from turn to turn. */
  readonly seq: number;
  readonly turn: string;
  /** Id of the agent, and the client's name in the log. */
  readonly agent: string;
  readonly client?: string | undefined;
  /** End of the turn, in ms since 1970. */
  readonly at: number;
  readonly status: TurnFacts['status'];
  readonly code?: number;
  readonly failure?: FailureRecord;
  /** Times before a turn that was spoken. */
  readonly speech?: TurnFacts['speech'];
  readonly queuedMs: number;
  readonly durationMs: number;
  readonly nodes: readonly NodeDiagnostics[];
  /** Diagnostics of the engine, for some of them; absent when texts of the turn were forgotten. */
  readonly engine?: readonly DebugInfo['nodes'][number][];
  readonly skipped: number;
  readonly hits: number;
  readonly citations: number;
  /** The beginning of the message, with `include_interaction_in_diagnostics`. */
  readonly message?: string;
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
