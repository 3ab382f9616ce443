import type { StorageChanges, UpdateResult } from '../../../lib/internal.js';

/** What an operator asks of a process that has a knowledge base open. One request and one reply per connection, each a line of JSON. */
export type OperatorRequest =
  | { op: 'hello' }
  | { op: 'update'; changes: StorageChanges }
  | { op: 'forget'; ids: readonly string[]; verify: boolean; histories: boolean }
  /** Another process has forgotten these. */
  | { op: 'drop'; ids: readonly string[]; texts: readonly string[]; histories: boolean }
  /** Another process wants to change the base: give back the lock of the change log, unless batches wait. */
  | { op: 'release' };

/** A conversation that quotes a forgotten text. */
export interface QuotingHistory {
  session: string;
  agent: string;
  /** Numbers of the turns. */
  turns: number[];
  /** Whether they were removed from it. */
  removed: boolean;
}

export interface OperatorReplies {
  hello: {
    pid: number /** Whether it holds the lock of the change log. */;
    isWriter: boolean;
    readOnly: boolean;
  };
  update: UpdateResult;
  forget: UpdateResult & { texts: string[]; filesWith?: string[]; histories: QuotingHistory[] };
  drop: { histories: QuotingHistory[] };
  release: Record<string, never>;
}
