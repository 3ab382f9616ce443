import type { Log } from '../../log/log.js';

/** The parts of a server that debug commands show and change. */
export interface DebugTarget {
  readonly log: Log;
  /** Counts and settings of the inference scheduler. */
  scheduler(): unknown;
  /** Loaded language models: cells, kept prefixes, requests. */
  languageModels(): Promise<unknown>;
  /** File storages with state, pins and bytes. */
  storages(): unknown;
  /** Memory that is held for clients, by client and kind, and its limits. */
  budgets(): unknown;
  /** Closes the unpinned storages. Returns their number. */
  evict(): Promise<number>;
  /** Sets a throttle level until the next call, besides the clients' levels. */
  throttle(level: number): void;
}
