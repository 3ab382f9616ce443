export interface Backoff {
  /** The first pause in ms, at most. */
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Returns the pause in ms before an attempt: doubled with each earlier `repeat`, up to the longest, and less up to a half by chance. */
export function backoffMs(repeats: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(firstMs * 2 ** repeats, longestMs) * (0.5 + Math.random() / 2);
}
