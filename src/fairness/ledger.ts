import type { BudgetStatus } from '../protocol/frames.js';
import { type Bytes, type MemoryKind, memoryKinds, type PassingKind, passingKinds } from './bytes.js';

/** The most that one ledger may reach: V8's heap alone, and heap and native memory together. */
export interface MemoryLimits {
  readonly heap: number;
  readonly total: number;
}

/** Share of every limit that is reserved for passing memory, so that a client that holds a lot can still be served. */
const passingShare = 1 / 3;

/** Returns the share of limits that passing or held memory gets. */
export function part(limits: MemoryLimits, passing: boolean): MemoryLimits {
  const share = passing ? passingShare : 1 - passingShare;
  return { heap: Math.floor(limits.heap * share), total: Math.floor(limits.total * share) };
}

const isPassing: ReadonlySet<MemoryKind> = new Set<PassingKind>(passingKinds);

/** Memory that one client, or all together, make the server hold, by kind. Held and passing memory have separate limits. */
export class Ledger {
  readonly held: MemoryLimits;
  readonly passing: MemoryLimits;
  readonly #held = { heap: 0, total: 0 };
  readonly #passing = { heap: 0, total: 0 };
  readonly #byKind = Object.fromEntries(memoryKinds.map((kind) => [kind, 0])) as Record<MemoryKind, number>;

  constructor(limits: MemoryLimits) {
    this.held = part(limits, false);
    this.passing = part(limits, true);
  }

  /** Negative numbers give back. */
  add(kind: MemoryKind, { heap, native }: Bytes): void {
    const sum = isPassing.has(kind) ? this.#passing : this.#held;
    sum.heap += heap;
    sum.total += heap + native;
    this.#byKind[kind] += heap + native;
  }

  get heldNow(): MemoryLimits {
    return this.#held;
  }

  get passingNow(): MemoryLimits {
    return this.#passing;
  }

  /** All of it, as a StatusResponse shows it. */
  get status(): BudgetStatus {
    const { heap, total } = this.#passing;
    return {
      held: Math.round(this.#held.total),
      held_limit: this.held.total,
      passing: Math.round(total),
      passing_limit: this.passing.total,
      heap: Math.round(this.#held.heap + heap),
      heap_limit: this.held.heap + this.passing.heap,
      by_kind: Object.fromEntries(memoryKinds.map((kind) => [kind, Math.round(this.#byKind[kind])])),
    };
  }

  /** Bytes by kind, heap and native memory together. */
  get byKind(): Readonly<Record<MemoryKind, number>> {
    return this.#byKind;
  }
}

/** The ledger line that `more` would break: its sum with `more` and its limit. Undefined when it fits. */
export function excess(
  now: MemoryLimits,
  { heap, native }: Bytes,
  limit: MemoryLimits,
): { heap: boolean; needed: number; limit: number } | undefined {
  const total = now.total + heap + native;
  if (total > limit.total) return { heap: false, needed: total, limit: limit.total };
  if (now.heap + heap > limit.heap) return { heap: true, needed: now.heap + heap, limit: limit.heap };
  return undefined;
}
