import { textPrefix } from '../agents/text-prefix.js';
import type { TurnFacts } from '../agents/turn-facts.js';
import type { DebugInfo, NodeDiagnostics } from '../protocol/frames.js';

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
  /** What the engine did for some of them. Empty for most turns of a loaded server. */
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

/** Turns that have ended, as a page gets them. */
export interface TurnsEvent {
  /** Another after a restart of the server, which counts anew. */
  readonly instance: string;
  readonly turns: readonly TurnRecord[];
}

/** Longest text of a kept component and most components of a turn. */
const longestText = 4096;
const mostComponents = 100;

/** Turns of a tenth of a second that keep the engine's numbers, besides failed ones: those of all would cost too much. */
const mostDetailed = 20;

/** Keeps the latest turns. */
export class TurnRing {
  readonly #size: number;
  readonly #withComponents: boolean;
  /** Turn n is at n - 1 modulo the size. */
  readonly #turns: TurnRecord[] = [];
  #seq = 0;
  #tenth = 0;
  #detailed = 0;

  constructor(size: number, withComponents: boolean) {
    this.#size = size;
    this.#withComponents = withComponents;
  }

  /** The number of turns so far: `seq` of the latest. */
  get newest(): number {
    return this.#seq;
  }

  /** Returns the first `most` turns after `seq` that are still there, oldest first. */
  after(seq: number, most = Number.POSITIVE_INFINITY): readonly TurnRecord[] {
    const begin = Math.max(seq, this.#seq - this.#turns.length);
    const end = Math.min(this.#seq, begin + most);
    const turns: TurnRecord[] = [];
    for (let at = begin; at < end; at++) turns.push(this.#turns[at % this.#size] as TurnRecord);
    return turns;
  }

  add(facts: TurnFacts): TurnRecord {
    const { turn, status, code, queuedMs, durationMs, nodes, engine, skipped, hits, citations } = facts;
    const at = Date.now();
    const record: TurnRecord = {
      seq: ++this.#seq,
      turn,
      at,
      status,
      ...(code !== undefined && { code }),
      queuedMs,
      durationMs,
      nodes,
      engine: status === 'failed' || this.#hasPlace(at) ? engine : [],
      skipped,
      hits,
      citations,
      messageLength: facts.message.length,
      replyLength: facts.reply.length,
      ...(this.#withComponents && keptComponents(facts.components)),
    };
    if (this.#size > 0) this.#turns[(record.seq - 1) % this.#size] = record;
    return record;
  }

  /** Takes one of the places of this tenth of a second, if one is left. */
  #hasPlace(at: number): boolean {
    const tenth = Math.floor(at / 100);
    if (tenth !== this.#tenth) this.#detailed = 0;
    this.#tenth = tenth;
    return this.#detailed++ < mostDetailed;
  }
}

function keptComponents(components: TurnFacts['components']): Pick<TurnRecord, 'components' | 'shortened'> {
  let shortened = components.length > mostComponents;
  const kept = components.slice(0, mostComponents).map((component) =>
    Object.fromEntries(
      Object.entries(component).map(([key, value]) => {
        if (typeof value !== 'string' || value.length <= longestText) return [key, value];
        shortened = true;
        return [key, textPrefix(value, longestText)];
      }),
    ),
  );
  return { components: kept, ...(shortened && { shortened }) };
}
