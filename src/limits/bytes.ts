/** Memory of one thing: in V8's heap and outside it (buffers, native objects). Two ledgers, because V8's heap ends first. */
export interface Bytes {
  readonly heap: number;
  readonly native: number;
}

export const noBytes: Bytes = { heap: 0, native: 0 };

/** Things that stay until the client destroys them; a request for more is refused. */
export const heldKinds = ['connections', 'sessions', 'storages', 'agents', 'turns'] as const;

/** Things that pass: received bytes, requests being served, results being made, replies not yet sent. They wait for room. */
export const passingKinds = ['receiving', 'requests', 'results', 'replies'] as const;

export type HeldKind = (typeof heldKinds)[number];
export type PassingKind = (typeof passingKinds)[number];
export type MemoryKind = HeldKind | PassingKind;

export const memoryKinds: readonly MemoryKind[] = [...heldKinds, ...passingKinds];

export const bytesPerMiB = 1024 * 1024;

/** Bytes as a number of MiB with one decimal, for messages. */
export function inMiB(bytes: number): string {
  return `${(bytes / bytesPerMiB).toFixed(1)} MiB`;
}
