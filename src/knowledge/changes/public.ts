/** What users of the library see of changes to a knowledge base. The types need no types of Node.js. */
import type { StorageChanges, UpdateResult } from '../../../lib/internal.js';

/**
 * When an acknowledged batch is on the device. "always": before it is acknowledged. A number: at most so many milliseconds later.
 * "never": when the system writes it. A batch survives the end of the process with each.
 */
export type FlushSetting = 'always' | 'never' | number;

/** The result of forgetting. */
export interface ForgetResult extends UpdateResult {
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

/** @internal The changes of a knowledge base: BaseChanges. */
export interface ChangesOfBase {
  readonly isBehind: boolean;
  update(
    changes: StorageChanges,
    signal: AbortSignal | undefined,
    turn?: (() => Promise<() => void>) | undefined,
  ): Promise<UpdateResult>;
  merge(signal?: AbortSignal | undefined): Promise<void>;
  forget(ids: readonly string[], signal: AbortSignal | undefined): Promise<ForgetResult>;
  backup(folder: string): Promise<KnowledgeBaseBackup>;
  close(): Promise<void>;
}
