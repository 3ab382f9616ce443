import type { DebugInfo, NodeDiagnostics } from '../protocol/frames.js';
import type { SpeechTimes } from '../protocol/speech-frames.js';
import type { Component } from './interaction.js';

/** Why and where a turn failed. */
export interface TurnFailure {
  /** Name of the code. */
  readonly name: string;
  /** May quote texts of the client. */
  readonly message: string;
  /** Field of the request or of the graph, if the error names one. */
  readonly path?: string | undefined;
  /** The node that failed; absent before the first node. */
  readonly node?: { readonly id: string; readonly type: string } | undefined;
}

/** A finished turn, for the operator's counters. Not for clients. */
export interface TurnFacts {
  readonly turn: string;
  /** Id of the agent. */
  readonly agent: string;
  /** The client's name in the log; absent without a server. */
  readonly client?: string | undefined;
  readonly status: 'completed' | 'cancelled' | 'failed';
  /** Error code of a failed turn. */
  readonly code: number | undefined;
  /** Why and where it failed; absent for other turns. */
  readonly failure?: TurnFailure | undefined;
  /** Times before a turn that was spoken. */
  readonly speech?: SpeechTimes | undefined;
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
