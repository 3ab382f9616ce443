/** What users of the library see of changes to a knowledge base. The types need no types of Node.js. */

import type { FileContent, StorageChanges, UpdateResult } from '../../../lib/internal.js';
import type { Turn } from '../embed-in-pieces.js';

/**
 * When an acknowledged batch is on the device. "always": before it is acknowledged. A number: at most so many milliseconds later.
 * "never": when the system writes it. A batch survives the end of the process with each.
 */
export type FlushSetting = 'always' | 'never' | number;

/** The result of forgetting. */
export interface ForgetResult extends UpdateResult {
  /** Of the records, in the order of their ids. */
  texts: string[];
  /** Returns the files in the base's folders that still have a text that was forgotten: none, unless it is in a file of yours. */
  filesWith(): Promise<string[]>;
}

/** A copy of a knowledge base. */
export interface KnowledgeBaseBackup {
  /** Absolute path of the config of the copy. */
  config: string;
  /** Version of the records in it. */
  version: number;
  files: string[];
}

/** @internal The disk that changes fill. */
export interface BaseDisk {
  /** Path of the records file. */
  readonly records: string;
  /** Bytes of all files that changes let grow, with the embeddings that the index of a folder keeps. */
  bytes(): Promise<number>;
}

/** @internal How a batch is prepared. */
export interface BatchOptions {
  /** Runs each piece of the embedding. */
  turn?: Turn | undefined;
  /** Where the records come from. Those of files are no changes to keep when a folder is indexed. Default: "update". */
  origin?: 'update' | 'files' | undefined;
}

/** @internal The changes of a knowledge base: BaseChanges. */
export interface ChangesOfBase {
  readonly isBehind: boolean;
  /** Whether this process holds the lock of the change log. */
  readonly isWriter: boolean;
  readonly readOnly: boolean;
  /** Undefined for a base in a database. */
  readonly disk: BaseDisk | undefined;
  /** Removes records that another process has forgotten from memory. */
  drop(ids: readonly string[]): Promise<void>;
  /** Releases the lock of the change log, so that other processes may change the base. */
  letGo(): Promise<void>;
  update(
    changes: StorageChanges,
    signal: AbortSignal | undefined,
    options?: BatchOptions | undefined,
  ): Promise<UpdateResult>;
  merge(signal?: AbortSignal | undefined): Promise<void>;
  forget(ids: readonly string[], signal: AbortSignal | undefined): Promise<ForgetResult>;
  /** Completes a forgetting that another process began, and removes the files of one that had not begun. Returns whether one had. */
  completeForget(signal: AbortSignal | undefined): Promise<boolean>;
  backup(folder: string): Promise<KnowledgeBaseBackup>;
  /** Told when the files have the content of the storage again, after a merge. */
  set onFiles(told: (records: FileContent) => void);
  /** Resolves when the batches and merges that have begun are done. */
  settled(): Promise<void>;
  /** As settled(), and the words of the log are saved if that is due: for a process that ends after its batch. */
  completed(): Promise<void>;
  close(): Promise<void>;
}
