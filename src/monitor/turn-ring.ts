import { textPrefix } from '../agents/text-prefix.js';
import type { TurnFacts } from '../agents/turn-facts.js';
import type { NodeDiagnostics } from '../protocol/frames.js';

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

/** Longest text of a kept component and most components of a turn. */
const longestText = 4096;
const mostComponents = 100;

/** Keeps the latest turns. */
export class TurnRing {
  readonly #size: number;
  readonly #withComponents: boolean;
  /** Turn n is at n - 1 modulo the size. */
  readonly #turns: TurnRecord[] = [];
  #seq = 0;

  constructor(size: number, withComponents: boolean) {
    this.#size = size;
    this.#withComponents = withComponents;
  }

  /** Oldest first. */
  get turns(): readonly TurnRecord[] {
    if (this.#seq <= this.#turns.length) return this.#turns;
    const oldest = this.#size === 0 ? 0 : this.#seq % this.#size;
    return [...this.#turns.slice(oldest), ...this.#turns.slice(0, oldest)];
  }

  /** The turns after `seq` that are still there. */
  after(seq: number): readonly TurnRecord[] {
    const missed = Math.min(Math.max(0, this.#seq - seq), this.#turns.length);
    return this.turns.slice(this.#turns.length - missed);
  }

  add(facts: TurnFacts): TurnRecord {
    const { turn, status, code, queuedMs, durationMs, nodes, skipped, hits, citations } = facts;
    const record: TurnRecord = {
      seq: ++this.#seq,
      turn,
      at: Date.now(),
      status,
      ...(code !== undefined && { code }),
      queuedMs,
      durationMs,
      nodes,
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
