import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isJsonWith, messageOf, onAbort, replaceFile, systemReason } from '../../../../lib/basics.js';
import { isLocked, LorekeepError } from '../../../../lib/internal.js';
import type { KnowledgeBase } from '../../knowledge-base.js';
import type { KnowledgeLog } from '../../log.js';
import type { FolderReader } from '../folder-reader.js';
import type { FileProblem } from '../index-folder.js';
import { stampOf } from '../manifest.js';
import { takeOverMoved } from '../moved.js';
import { type FolderFacts, fileNames, folderIdentity, formerIdentities, readFacts } from '../place.js';
import type { ScannedFile } from '../scan.js';
import { type AppliedChanges, ChangedFiles } from './changed-files.js';
import { FolderEvents } from './folder-events.js';
import { readWatchedFiles, type WatchedFile } from './watched-files.js';

/** Something that happened to a watched folder. */
export type WatchedChange =
  | (AppliedChanges & {
      kind: 'applied';
      /** Version and size of the knowledge base. */
      version: number;
      size: number;
      /** Of all its files. */
      problems: FileProblem[];
    })
  | { kind: 'gone'; reason: string }
  | { kind: 'back' }
  /** The system watches no more folders: changes are found by looks. */
  | { kind: 'untold'; reason: string }
  /** The watch tries again. */
  | { kind: 'failed'; reason: string };

export interface WatchSource {
  folder: string;
  place: string;
  reader: FolderReader;
  kb: KnowledgeBase;
  log: KnowledgeLog;
  signal: AbortSignal;
  onChange(change: WatchedChange): void;
}

/** A change is looked at this long after its event, in ms: editors write in several steps. */
const gatherMs = 100;
/** A file whose last change is younger may be half-written, in ms. */
const settledMs = 300;
/** A file that never settles, such as a log, is read this often, in ms. */
const unsettledMs = 5000;
/** Time between two looks at a folder that is gone, or whose events are lost, in ms. */
const goneMs = 1000;
const lostMs = 5000;
/** Whether another folder has taken the path is looked at this often, in ms: a folder above it that is moved is no event. */
const replacedMs = 1000;
/** Time between two attempts while another process changes the records, in ms. */
const heldMs = 500;
/** Scans take at most this share of the time. Other changes may wait for the next one, so embedding earns no rest. */
const scanShare = 0.5;

/** Keeps an index that was just written like its folder. */
export class WatchSession implements AsyncDisposable {
  readonly #source: WatchSource;
  readonly #files: Map<string, WatchedFile>;
  /** Of the folder that the index is about. */
  #identity: string | undefined;
  readonly #events: FolderEvents;
  /** When unsettled files were read. */
  readonly #readAt = new Map<string, number>();
  #pollMs: number;
  /** What the latest whole scan took. */
  #scanMs = 0;
  #isGone = false;
  #isHeld = false;
  #isDirty = true;
  #wake = () => {};

  private constructor(
    source: WatchSource,
    pollMs: number,
    files: Map<string, WatchedFile>,
    identity: string | undefined,
  ) {
    this.#source = source;
    this.#pollMs = pollMs;
    this.#files = files;
    this.#identity = identity;
    this.#events = new FolderEvents(
      source.folder,
      () => {
        this.#isDirty = true;
        this.#wake();
      },
      (cause) => this.#lost(cause),
    );
  }

  /** `pollMs`: time between two looks without an event. */
  static async open(source: WatchSource, pollMs: number): Promise<WatchSession> {
    const files = await readWatchedFiles(source.place);
    return new WatchSession(source, pollMs, files, (await readFacts(source.place))?.identity);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#events.close();
  }

  /** Runs until the signal aborts, or until the knowledge base must be opened again. @throws as KnowledgeBase.update() */
  async run(): Promise<void> {
    const { signal, kb } = this.#source;
    const stopListening = onAbort(signal, () => this.#wake());
    try {
      let next = 0;
      while (!signal.aborted && !kb.changes.isBehind) {
        const started = performance.now();
        if (this.#isDirty || started >= next) {
          this.#isDirty = false;
          const again = await this.#look();
          next = performance.now() + Math.min(again ?? this.#pollMs, this.#pollMs);
          await this.#rest(Math.max(gatherMs, this.#scanMs / scanShare - this.#scanMs));
        }
        await this.#eventOr(Math.min(next, performance.now() + replacedMs));
        if (!this.#isGone && (await folderIdentity(this.#source.folder)) !== this.#identity)
          this.#isDirty = true;
      }
    } finally {
      stopListening();
    }
  }

  async #rest(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#source.signal }).catch(() => {});
  }

  /** Waits for an event, an abort, or a time. */
  async #eventOr(time: number): Promise<void> {
    if (this.#isDirty || this.#source.signal.aborted) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, Math.max(0, time - performance.now()));
    });
    clearTimeout(timer);
    // The rest of a burst of events belongs to the same look.
    if (this.#isDirty) await this.#rest(gatherMs);
  }

  /** Compares the folder with the knowledge base and applies what differs. Returns in how many ms to look again without an event. */
  async #look(): Promise<number | undefined> {
    const { reader, signal } = this.#source;
    let found: Awaited<ReturnType<typeof reader.scan<WatchedFile>>>;
    const started = performance.now();
    try {
      found = await reader.scan(this.#files);
      this.#scanMs = performance.now() - started;
      await this.#follow(found.files);
    } catch (error) {
      signal.throwIfAborted();
      if (!isSystemError(error)) throw error;
      this.#gone(error);
      return goneMs;
    }
    if (this.#isGone) {
      this.#isGone = false;
      this.#source.onChange({ kind: 'back' });
    }
    // What happened before a folder was watched came without an event.
    if (this.#events.watch(found.folders)) this.#isDirty = true;
    return this.#applyUnlessHeld(found.files);
  }

  /** While another process changes the records, it tries again soon. */
  async #applyUnlessHeld(files: readonly ScannedFile<WatchedFile>[]): Promise<number | undefined> {
    try {
      const again = await this.#apply(files);
      this.#isHeld = false;
      return again;
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (!this.#isHeld) this.#source.onChange({ kind: 'failed', reason: messageOf(error.detail) });
      this.#isHeld = true;
      return heldMs;
    }
  }

  /**
   * Goes on with another folder that has taken the place of the indexed one: texts that were forgotten of it stay out. An unmounted folder
   * leaves an empty one. @throws a system error for it; IO, CORRUPT
   */
  async #follow(files: readonly unknown[]): Promise<void> {
    const { folder, place, kb, log, signal } = this.#source;
    const identity = await folderIdentity(folder);
    if (identity !== undefined && identity === this.#identity) return;
    if (files.length === 0 && this.#files.size > 0)
      throw Object.assign(new Error('another folder, which is empty, is in its place'), { code: 'ENOENT' });
    if (identity === this.#identity) return;
    await takeOverMoved(folder, place, { lifted: false, signal, log });
    this.#identity = identity;
    await this.#writeFacts(kb.size);
  }

  async #apply(files: readonly ScannedFile<WatchedFile>[]): Promise<number | undefined> {
    const { kb, reader, signal, place } = this.#source;
    const present = new Set(files.flatMap(({ path, problem }) => (problem === undefined ? [path] : [])));
    const gone = [...this.#files.keys()].filter((path) => !present.has(path));
    const changed = files.filter(({ known, problem }) => known === undefined && problem === undefined);
    const { settled, again } = await this.#settled(changed);
    const unread = files.filter(({ problem }) => problem !== undefined);
    if (gone.length === 0 && settled.length === 0) return again;
    const work = await ChangedFiles.begin(kb, this.#files, place, signal);
    try {
      // First, so that a file that was renamed is never found twice.
      for (const path of gone) await work.gone(path);
      for (const file of settled) await work.changed(file, reader);
      await work.flush();
    } finally {
      await this.#writeFacts(kb.size);
    }
    const problems = [
      ...unread.map(({ path, problem }) => ({ path, reason: problem as string })),
      ...[...this.#files].flatMap(([path, file]) => file.problems.map((reason) => ({ path, reason }))),
    ];
    this.#source.onChange({
      kind: 'applied',
      ...work.applied,
      version: kb.version,
      size: kb.size,
      problems,
    });
    return again;
  }

  /** The files that no one seems to be writing, with the stamps that they have now. `again`: in how many ms others may be read. */
  async #settled(
    files: readonly ScannedFile<WatchedFile>[],
  ): Promise<{ settled: ScannedFile<WatchedFile>[]; again: number | undefined }> {
    const settled: ScannedFile<WatchedFile>[] = [];
    let again: number | undefined;
    for (const file of files) {
      const path = join(this.#source.folder, file.path);
      const now = await stampOf(path, settledMs).catch(() => undefined);
      // It is gone: the next look sees that.
      if (now === undefined) {
        again = gatherMs;
        continue;
      }
      const last = this.#readAt.get(file.path) ?? performance.now();
      const isDue = performance.now() - last >= unsettledMs;
      if (now.isFresh && !isDue) {
        this.#readAt.set(file.path, last);
        again = Math.min(again ?? settledMs, settledMs);
        continue;
      }
      this.#readAt.delete(file.path);
      const stamp = now.isFresh ? `${now.stamp}:fresh` : now.stamp;
      settled.push({ ...file, stamp, mtime: now.mtime, bytes: now.bytes });
    }
    return { settled, again };
  }

  async #writeFacts(records: number): Promise<void> {
    const { place } = this.#source;
    const facts = await readFacts(place);
    if (facts === undefined) return;
    const { empty: _, ...others } = facts;
    const now: FolderFacts = {
      ...others,
      indexedAt: new Date().toISOString(),
      identity: this.#identity,
      formerIdentities: formerIdentities(facts, this.#identity),
      files: this.#files.size,
      records,
      ...(records === 0 && { empty: true }),
    };
    const isOurs = isJsonWith(({ kind }) => kind === now.kind);
    await replaceFile(join(place, fileNames.facts), `${JSON.stringify(now, null, 2)}\n`, { isOurs });
  }

  #gone(error: unknown): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#events.watch(new Map());
    const reason = systemReason(error as Error);
    this.#source.log.warn({ err: error, folder: this.#source.folder }, 'the folder is gone; its index stays');
    this.#source.onChange({ kind: 'gone', reason });
  }

  #lost(cause: NodeJS.ErrnoException): void {
    this.#pollMs = Math.min(this.#pollMs, lostMs);
    const hint =
      cause.code === 'ENOSPC'
        ? 'the limit of watched folders is reached: increase fs.inotify.max_user_watches'
        : systemReason(cause);
    const reason = `${hint}; changes are looked for every ${this.#pollMs / 1000} s`;
    this.#source.log.warn({ err: cause, folder: this.#source.folder }, reason);
    this.#source.onChange({ kind: 'untold', reason });
  }
}

const isSystemError = (error: unknown) =>
  !(error instanceof LorekeepError) && typeof (error as NodeJS.ErrnoException).code === 'string';
