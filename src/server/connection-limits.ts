import type { DeadlineLimits } from './deadlines.js';

/** Limits of one client: memory, concurrency and timeouts. */
export interface ConnectionLimits extends DeadlineLimits {
  /** Bytes of unread replies above which no further request is accepted. */
  unsentBytes: number;
  /** Requests being served at once. */
  requests: number;
  /** Searches and turns that produce results at the same time. Results under way are not held back if the client stops reading. */
  producers: number;
  /** Longest time for a client to close after its framing was lost, in ms. */
  farewellMs: number;
}

export const defaultLimits: ConnectionLimits = {
  unsentBytes: 1024 * 1024,
  requests: 64,
  producers: 16,
  frameMs: 30_000,
  stallMs: 60_000,
  idleMs: 0,
  farewellMs: 2_000,
};

/** Work taken from one client before others have their turn. */
export const pace = {
  /** Requests started in one slice before their effects are charged. */
  requests: 16,
  /** Short frames taken in one slice, without a look at the clock. */
  shortFrames: 8,
  /** Longest data taken for a ping. Longer data is probably another request, which waits for a slice of its own. */
  pingBytes: 64,
  /**
   * Bytes read from the network before their frames are parsed: one read, so that many busy senders do not hold the event loop
   * between two slices of another client.
   */
  maxAhead: 64 * 1024,
} as const;
