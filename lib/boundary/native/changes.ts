import type { NativeCancelToken, NativeHandle } from './handle.js';
import type { NativeTextIndex } from './indexes.js';
import type { FileContent } from './records.js';

/** A frame of a change log: a batch, or the mark of a merge that was begun. */
export interface ChangeLogFrame {
  kind: 'batch' | 'merge';
  /** Of the storage after the batch; of a merge, the last version that it merges. */
  version: number;
  /** Milliseconds since 1970, by the writer's clock. */
  time: number;
  /** Bytes from the beginning of the file. */
  begin: number;
  end: number;
}

/** See native/store/change_log.h. Digests are 16 hexadecimal digits. */
export interface ChangeLogFacts {
  id: string;
  dimension: number;
  /** The records file that the changes are about. */
  records: FileContent;
  /** Of everything besides the text that a vector depends on. */
  model: string;
  /** Version of the storage without the changes, and with all of them. */
  baseVersion: number;
  version: number;
  /** End of the last good frame. */
  end: number;
  frames: ChangeLogFrame[];
  /** Absent: the log is whole. `torn`: the bytes behind `at` were never acknowledged as durable. */
  damage?: { at: number; reason: string; torn: boolean };
  /** The last merge that was begun: the records file that it writes. */
  merge?: FileContent & { version: number };
}

export interface NativeChangeLog extends NativeHandle {
  readonly memoryBytes: number;
  facts(): ChangeLogFacts;
  /** The effect of the batches with versions in (after, upTo]. */
  fold(
    after: number,
    upTo: number,
    fields: unknown,
    cancel: NativeCancelToken | undefined,
  ): Promise<NativeLoggedChanges>;
  /** The text index that saveWords() wrote for batches of this log, and their last version. Rejects for another file. */
  loadWords(
    path: string,
    tokenizer: string,
    cancel: NativeCancelToken | undefined,
  ): Promise<[index: NativeTextIndex, version: number]>;
}

export interface NativeLoggedChanges extends NativeHandle {
  /** `version`: of the last batch; 0 without any. */
  facts(): { version: number; changed: number; removed: number };
  /** The changed records. */
  texts(): { id: string; text: string }[];
  removedIds(): string[];
  /** Writes the records of `source` with the changes to `target`. Rejects if the source has other content. */
  rewrite(
    source: string,
    content: FileContent,
    target: string,
    cancel: NativeCancelToken | undefined,
  ): Promise<FileContent & { records: number }>;
  /** Writes the text index of all changes of `log` up to these. */
  saveWords(
    log: NativeChangeLog,
    tokenizer: string,
    path: string,
    cancel: NativeCancelToken | undefined,
  ): Promise<void>;
}

/** A defect of a record. */
export interface RecordDefect {
  /** Position in the list. */
  index: number;
  /** "metadata.year"; empty for the record itself. */
  field: string;
  expected: string;
  found: string;
}
