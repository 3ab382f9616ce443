/** Reads change logs: the write-ahead files of knowledge bases. */
import { stringArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError, translateError } from '../boundary/errors.js';
import { Handle } from '../boundary/handle.js';
import type {
  ChangeLogFacts,
  FileContent,
  NativeChangeLog,
  NativeLoggedChanges,
  RecordDefect,
} from '../boundary/native.js';
import { type CallOptions, callNative } from '../boundary/native-call.js';
import type { FieldDefinition } from './filter.js';
import { TextIndex, type Tokenizer } from './text-index.js';

interface VersionRange {
  after: number;
  upTo: number;
}

/** The effect of some batches, which is being computed. */
interface FoldedAhead extends VersionRange {
  fields: readonly FieldDefinition[] | undefined;
  changes: Promise<LoggedChanges>;
}

/** The text index of the changes up to a version, as LoggedChanges.saveWords() wrote it. */
export interface LoggedWords {
  index: TextIndex;
  version: number;
}

/** The content of a change log. */
export class ChangeLog extends Handle<NativeChangeLog> {
  readonly facts: ChangeLogFacts;
  /** What foldAhead() began. */
  #ahead: FoldedAhead[] = [];
  #words: Promise<LoggedWords> | undefined;

  private constructor(native: NativeChangeLog) {
    super(native);
    this.facts = this.read(() => native.facts());
  }

  /**
   * Reads the log; after `position`, the frames behind it only. A tail that is damaged or incomplete is told in `facts.damage`.
   * @throws NOT_FOUND, IO; CORRUPT, UNSUPPORTED for the header; CANCELLED
   */
  static async read(
    path: string,
    { signal, end = 0, version = 0 }: CallOptions & Partial<Pick<ChangeLogFacts, 'end' | 'version'>> = {},
  ): Promise<ChangeLog> {
    const file = stringArgument('path', path);
    return callNative(
      signal,
      async (cancel) => new ChangeLog(await binding.readChangeLog(file, end, version, cancel)),
    );
  }

  /** Returns the effect of the batches with versions in (after, upTo]. @throws CORRUPT, CANCELLED */
  async fold(
    range: VersionRange,
    fields: readonly FieldDefinition[] | undefined,
    options: CallOptions = {},
  ): Promise<LoggedChanges> {
    const { after, upTo } = range;
    const begun = this.#ahead.findIndex(
      (ahead) => ahead.fields === fields && ahead.after === after && ahead.upTo === upTo,
    );
    const [ahead] = begun < 0 ? [] : this.#ahead.splice(begun, 1);
    return ahead?.changes ?? this.#fold(range, fields, options);
  }

  /** Begins a fold while the caller has other work. The next fold() of the same versions and fields takes its result. */
  foldAhead(
    range: VersionRange,
    fields: readonly FieldDefinition[] | undefined,
    options: CallOptions = {},
  ): void {
    const changes = this.#fold(range, fields, options);
    changes.catch(() => {}); // told by fold()
    this.#ahead.push({ ...range, fields, changes });
  }

  /**
   * Loads the text index of the changes up to a version, once. It is closed with the log.
   * @throws as TextIndex.load(); UNSUPPORTED for an index of other changes or of another tokenizer
   */
  loadWords(path: string, tokenizer: Tokenizer, { signal }: CallOptions = {}): Promise<LoggedWords> {
    this.#words ??= this.run(signal, async (native, cancel) => {
      const [index, version] = await native.loadWords(path, tokenizer, cancel);
      return { index: new TextIndex(index), version };
    });
    return this.#words;
  }

  #fold(
    { after, upTo }: VersionRange,
    fields: readonly FieldDefinition[] | undefined,
    { signal }: CallOptions,
  ): Promise<LoggedChanges> {
    return this.run(
      signal,
      async (native, cancel) => new LoggedChanges(await native.fold(after, upTo, fields, cancel)),
    );
  }

  override async close(): Promise<void> {
    const ahead = this.#ahead.splice(0);
    const words = this.#words;
    await super.close();
    await (await words?.catch(() => undefined))?.index.close();
    for (const { changes } of ahead) await (await changes.catch(() => undefined))?.close();
  }
}

/** The effect of logged batches: the last state of each record that they touch. */
export class LoggedChanges extends Handle<NativeLoggedChanges> {
  readonly version: number;
  readonly changed: number;
  readonly removed: number;

  /** @internal Use ChangeLog.fold(). */
  constructor(native: NativeLoggedChanges) {
    super(native);
    const { version, changed, removed } = this.read(() => native.facts());
    this.version = version;
    this.changed = changed;
    this.removed = removed;
  }

  /** The changed records, and the ids of the removed ones. */
  ids(): { changed: { id: string; text: string }[]; removed: string[] } {
    return this.read((native) => ({ changed: native.texts(), removed: native.removedIds() }));
  }

  /** The ids of the removed records alone: no text becomes a string of JavaScript, which cannot be overwritten. */
  removedIds(): string[] {
    return this.read((native) => native.removedIds());
  }

  /**
   * Writes the records of `source` with these changes to `target`. Unchanged records are copied byte for byte.
   * @throws CORRUPT if `source` does not have this content; INVALID_ARGUMENT for a `target` that is not of a merge; IO, CANCELLED
   */
  rewrite(
    source: string,
    content: FileContent,
    target: string,
    { signal }: CallOptions = {},
  ): Promise<FileContent & { records: number }> {
    return this.run(signal, (native, cancel) => native.rewrite(source, content, target, cancel));
  }

  /**
   * Makes the text index of the changed records with one thread and writes it. These are all changes of `log` up to a version.
   * @throws IO; INVALID_ARGUMENT for a `path` of another kind of file; CANCELLED
   */
  saveWords(log: ChangeLog, tokenizer: Tokenizer, path: string, { signal }: CallOptions = {}): Promise<void> {
    return this.run(signal, (native, cancel) => native.saveWords(log.handle, tokenizer, path, cancel));
  }
}

/** A lock between processes, which ends with its process. */
export interface FileLock {
  release(): Promise<void>;
}

/** Takes a lock. @throws IO while another holder has it (`detail.holder`: its process); INVALID_ARGUMENT for another file */
export function lockFile(path: string): FileLock {
  try {
    const lock = binding.lockFile(path);
    return { release: () => lock.close() };
  } catch (error) {
    throw translateError(error);
  }
}

/** Whether an error is about a lock that another holder has. */
export const isLocked = (error: unknown): error is LorekeepError =>
  error instanceof LorekeepError && error.code === 'IO' && error.detail.holder !== undefined;

/** Writes the checksums of a frame of the log `id`, or of a header without one. */
export function sealChanges(bytes: Uint8Array, id?: string): void {
  binding.sealChanges(bytes, id);
}

/** Returns size and checksum of a file. @throws NOT_FOUND, IO, CANCELLED */
export function identifyFile(path: string, { signal }: CallOptions = {}): Promise<FileContent> {
  return callNative(signal, (cancel) => binding.identifyFile(path, cancel));
}

/**
 * Returns the sizes of files, then of the files in a folder; 0 for what is no regular file. One task of the addon's threads: a burst of
 * stat() makes the event loop wait for threads of libuv that were woken before (glibc's pthread_cond_signal).
 */
export function fileSizes(files: readonly string[], folder?: string): Promise<number[]> {
  return callNative(undefined, () => binding.fileSizes(files, folder));
}

/** Returns the first `most` defects of records, by the rules of records files. @throws CANCELLED */
export function checkRecords(
  jsons: readonly string[],
  fields: readonly FieldDefinition[] | undefined,
  most: number,
  { signal }: CallOptions = {},
): Promise<RecordDefect[]> {
  return callNative(signal, (cancel) => binding.checkRecords(jsons, fields, most, cancel));
}
