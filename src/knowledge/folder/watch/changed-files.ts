import { LorekeepError, type StorageRecord, type UpdateResult } from '../../../../lib/internal.js';
import type { KnowledgeBase } from '../../knowledge-base.js';
import type { FolderReader } from '../folder-reader.js';
import { isForgotten, readForgotten } from '../forgotten.js';
import type { FolderRecord } from '../records-writer.js';
import type { RecordSink, ScannedFile } from '../scan.js';
import { digestOf, type WatchedFile } from './watched-files.js';

/** Records of one batch. The first files of a large tree are found while the others are still embedded. */
const batchRecords = 256;

/** What was done to a knowledge base. */
export interface AppliedChanges {
  /** Files that were read, and files that are gone. */
  read: number;
  gone: number;
  added: number;
  replaced: number;
  removed: number;
}

/** Brings the records of changed files into a knowledge base, as batches of its change log. */
export class ChangedFiles {
  readonly #kb: KnowledgeBase;
  readonly #files: Map<string, WatchedFile>;
  readonly #place: string;
  #forgotten: ReadonlySet<string>;
  readonly #signal: AbortSignal;
  readonly applied: AppliedChanges = { read: 0, gone: 0, added: 0, replaced: 0, removed: 0 };
  #put = new Map<string, FolderRecord>();
  #removed = new Set<string>();
  /** States of files that the next batch brings about. */
  #next = new Map<string, WatchedFile | undefined>();

  private constructor(
    kb: KnowledgeBase,
    files: Map<string, WatchedFile>,
    forgotten: { place: string; digests: ReadonlySet<string> },
    signal: AbortSignal,
  ) {
    this.#kb = kb;
    this.#files = files;
    this.#place = forgotten.place;
    this.#forgotten = forgotten.digests;
    this.#signal = signal;
  }

  /** `place`: the folder of the index, where the digests of forgotten texts are. */
  static async begin(
    kb: KnowledgeBase,
    files: Map<string, WatchedFile>,
    place: string,
    signal: AbortSignal,
  ): Promise<ChangedFiles> {
    return new ChangedFiles(kb, files, { place, digests: await readForgotten(place) }, signal);
  }

  /** Removes the records of a file that is gone. */
  async gone(path: string): Promise<void> {
    for (const id of this.#files.get(path)?.records.keys() ?? []) this.#removed.add(id);
    this.#next.set(path, undefined);
    this.applied.gone++;
    await this.#flushIfFull();
  }

  /** Reads a file that is new or was changed. @throws as FolderReader.read() and KnowledgeBase.update() */
  async changed(file: ScannedFile<WatchedFile>, reader: FolderReader): Promise<void> {
    const before = this.#files.get(file.path)?.records ?? new Map<string, string>();
    const records = new Map<string, string>();
    const add = async (record: FolderRecord) => {
      if (isForgotten(this.#forgotten, record.text)) return false;
      const digest = digestOf(record);
      records.set(record.id, digest);
      if (before.get(record.id) !== digest) {
        this.#put.set(record.id, record);
        this.#removed.delete(record.id);
      }
      // Of a file with many records, some are in the knowledge base before it is read to its end.
      if (this.#put.size >= batchRecords) {
        const partly = { stamp: '', problems: [], records: new Map([...before, ...records]) };
        this.#next.set(file.path, partly);
        await this.flush();
      }
      return true;
    };
    const sink: RecordSink = { begin: () => 0, end: 0, add };
    const { stamp, problems = [], retry } = await reader.read(file, sink);
    for (const id of before.keys()) if (!records.has(id)) this.#removed.add(id);
    this.#next.set(file.path, { stamp, problems, records, ...(retry && { retry }) });
    this.applied.read++;
    await this.#flushIfFull();
  }

  /** Applies what was collected, as one batch. @throws as KnowledgeBase.update() */
  async flush(): Promise<void> {
    const put = [...this.#put.values()];
    // Records that someone else removed or forgot are gone already.
    const removed = await this.#kb.storage.known([...this.#removed].filter((id) => !this.#put.has(id)));
    if (put.length + removed.length > 0) this.#count(await this.#update(put, removed));
    await this.#forgetAgain(put);
    for (const [path, file] of this.#next) {
      if (file === undefined) this.#files.delete(path);
      else this.#files.set(path, file);
    }
    this.#put.clear();
    this.#removed.clear();
    this.#next.clear();
  }

  /** Forgets the records whose texts were forgotten while their files were read. */
  async #forgetAgain(put: readonly FolderRecord[]): Promise<void> {
    this.#forgotten = await readForgotten(this.#place);
    const gone = put.filter(({ text }) => isForgotten(this.#forgotten, text)).map(({ id }) => id);
    if (gone.length > 0) await this.#kb.forget(gone, { signal: this.#signal });
  }

  async #update(put: readonly FolderRecord[], remove: readonly string[]): Promise<UpdateResult> {
    const changes = { add: put as readonly StorageRecord[], remove, upsert: true };
    try {
      return await this.#kb.update(changes, { signal: this.#signal, origin: 'files' });
    } catch (error) {
      // Someone else removed a record meanwhile.
      if (!(error instanceof LorekeepError) || error.code !== 'RECORD_MISSING') throw error;
      const known = await this.#kb.storage.known([...remove]);
      return this.#kb.update({ ...changes, remove: known }, { signal: this.#signal, origin: 'files' });
    }
  }

  #count({ added, replaced, removed }: UpdateResult): void {
    this.applied.added += added;
    this.applied.replaced += replaced;
    this.applied.removed += removed;
  }

  async #flushIfFull(): Promise<void> {
    if (this.#put.size + this.#removed.size >= batchRecords) await this.flush();
  }
}
