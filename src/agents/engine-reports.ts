import type { EngineDiagnostics } from '../protocol/engine.js';
import type { DebugInfo } from '../protocol/frames.js';

type Report = DebugInfo['nodes'][number];

/** The engine's diagnostics of a turn, computed when they are asked for. It may be kept: it holds nothing else of the turn. */
export class EngineReports {
  readonly #reportOf: (() => Report)[] = [];
  #reports: readonly Report[] | undefined;

  /** Adds a node that ran for `duration` ms. */
  add(node: string, type: string, duration: number, engine: (duration: number) => EngineDiagnostics): void {
    this.#reportOf.push(() => ({ node, type, diagnostics: { engine: engine(duration) } }));
  }

  list(): readonly Report[] {
    this.#reports ??= this.#reportOf.map((reportOf) => reportOf());
    return this.#reports;
  }
}
