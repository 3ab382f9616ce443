/** Memory in V8's heap and outside it (buffers, native objects). Counted separately, because V8's heap fills up first. */
export interface Bytes {
  readonly heap: number;
  readonly native: number;
}

export const noBytes: Bytes = { heap: 0, native: 0 };

export const sumOf = (one: Bytes, other: Bytes): Bytes => ({
  heap: one.heap + other.heap,
  native: one.native + other.native,
});

/** Held memory: stays until the client destroys the object. Requests above the limit are refused. */
const heldKinds = ['connections', 'sessions', 'storages', 'agents', 'turns', 'speech'] as const;

/** Transient memory: received bytes, pending requests, results, unsent replies. Waits when above the limit. */
export const passingKinds = ['receiving', 'requests', 'results', 'replies'] as const;

export type HeldKind = (typeof heldKinds)[number];
export type PassingKind = (typeof passingKinds)[number];
export type MemoryKind = HeldKind | PassingKind;

export const memoryKinds: readonly MemoryKind[] = [...heldKinds, ...passingKinds];
