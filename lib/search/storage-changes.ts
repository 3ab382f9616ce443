/** Changes of a storage in batches, its versions, and the merging of their traces. See docs/internals/changing-storages.md. */
import type { CallOptions } from '../boundary/native-call.js';
import type { StorageRecord } from './storage-record.js';

/**
 * One batch of changes. It is applied whole or not at all, and makes one version. No id may occur twice in it, in whatever lists.
 * Ids are equal if their UTF-8 bytes are: two Unicode forms of a text are two ids.
 */
export interface StorageChanges {
  /** New records. They take the last places of the storage's order, before the replaced ones. */
  add?: readonly StorageRecord[] | undefined;
  /** Records in place of those with their ids. They take the last places of the storage's order. */
  replace?: readonly StorageRecord[] | undefined;
  /** Ids of records to remove. */
  remove?: readonly string[] | undefined;
  /** `add` replaces a record that exists, and `replace` adds one that does not. Default false. */
  upsert?: boolean | undefined;
  /** The batch is refused unless the storage has this version. */
  ifVersion?: number | undefined;
}

export interface UpdateResult {
  /** The version that the batch made; the present one for an empty batch. */
  version: number;
  /** Number of records that are new. */
  added: number;
  /** Number of records in place of an earlier one with their id. */
  replaced: number;
  /** Number of records that are gone. */
  removed: number;
  /** Number of records afterwards. */
  size: number;
}

export interface ForgetOptions extends CallOptions {
  /** Ids without a record are left out instead of refused. Default false. */
  missingIsFine?: boolean | undefined;
}

/** The versions that a storage keeps besides the newest one. Older ones go first. */
export interface VersionLimits {
  /** Number of versions. Default 0. */
  count?: number | undefined;
  /** Bytes of memory that no newer version uses. Default 256 MiB. */
  bytes?: number | undefined;
  /** Age in milliseconds, counted from the version after it. Default: any. */
  age?: number | undefined;
}

/** A version that a storage can be read at. */
export interface StorageVersion {
  /** Number of the version: 0 for a storage as it was built, and one more with each batch. */
  version: number;
  /** Time at which it was made, in ms since 1970, by the clock of then: less than that of an earlier version if the clock was set back. */
  time: number;
  /** Number of records. */
  size: number;
}

/** The state of merging: the parts of a storage that batches leave behind are rewritten in the background. */
export interface MergingState {
  /** `idle`: nothing is worth merging. `due`: it is, and merging is paused, about to start, or waits while a throttle is set. */
  state: 'idle' | 'due' | 'running';
  /** Whether merging is paused: pauseMerging(). */
  paused: boolean;
  /** Number of parts that a search reads. */
  parts: number;
  /** Removed and replaced records that still take memory, as a share of all. */
  deletedShare: number;
  /** Records outside the largest part, as a share of all. */
  changedShare: number;
  /** Why the latest background merge ended early: the memory did not suffice, a file was changed in place. */
  failure?: Error;
}
