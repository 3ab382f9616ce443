import type { PostgresClient } from '../../knowledge/postgres/client.js';
import type { Statement } from '../../knowledge/postgres/statement.js';
import type { SessionTables } from './tables.js';

/** Longest time of a statement about kept sessions, in ms: a turn waits for it. */
export const storeMs = 5000;

/** Does work with the database when it is its client's turn: one that asks for much waits for itself. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** An agent as it was kept. */
export interface KeptAgent {
  readonly number: number;
  /** JSON of the graph; undefined for one that has the secret of a memory. */
  readonly graph: string | undefined;
  readonly diagnostics: boolean;
  /** JSON of each turn. */
  readonly turns: readonly string[];
}

/** The store as one of its sessions uses it. */
export interface SessionStore {
  readonly tables: SessionTables;
  readonly options: { readonly client: PostgresClient; readonly maxBytes: number };
  /** When a session that is written now expires. */
  expiry(statement: Statement): string;
  /** Does work with the tables. @throws ServerError of the work; SessionNotKept for all others, which the log has */
  work<T>(work: () => Promise<T>): Promise<T>;
}
