import {
  ChangeLog,
  type ConvertedBatch,
  type FileContent,
  type FileLock,
  isLocked,
  LorekeepError,
  mergesRest,
  type Storage,
  type StorageChanges,
  type UpdateResult,
} from '../../../lib/internal.js';
import { isSealed } from '../../base/files/home.js';
import { backupFiles } from './backup.js';
import { baseDisk } from './base-disk.js';
import { damageWarning, hasBatches, type LogSource, lockOfOwn, newHeader, readLog } from './base-log.js';
import { behind, FollowedLog, type LaterFiles } from './followed-log.js';
import { filesWith } from './forget.js';
import { completeForget, type ForgettingBase, forgetRecords } from './forgetting.js';
import { formerRecords } from './former-records.js';
import { type EncodedBatch, encodedBatch } from './frames.js';
import type { LogAhead } from './log-ahead.js';
import { ChangeLogWriter, damagedLog } from './log-writer.js';
import { WordsSaver } from './logged-words.js';
import { mergeFiles } from './merge-files.js';
import { hasPendingForget, removeUnfinishedIntents } from './pending-forget.js';
import { BatchesInOrder, checkIds, type PreparedBatch } from './prepare.js';
import type {
  BaseDisk,
  BatchOptions,
  ChangesOfBase,
  FlushSetting,
  ForgetResult,
  KnowledgeBaseBackup,
} from './public.js';

/** How often a process looks for the changes of another one. Two looks and a read take less than a second. */
const lookMs = 250;
/** A log that is shorter is not merged in the background: reading it takes a few hundredths of a second. */
const leastMergedBytes = 4 * 1024 * 1024;
/** Time between two attempts to complete a forgetting, in ms. */
const retryMs = 60_000;
/** While a throttle is set, a log is merged at this many times the usual size. */
const throttledFactor = 4;

interface OpenOptions {
  flush?: FlushSetting | undefined;
  /** Its log is taken. */
  ahead: LogAhead;
  warn(warning: string): void;
  /** Loads the files that another process has put in place. */
  load(signal: AbortSignal | undefined): Promise<LaterFiles>;
}

interface Waiting {
  batch: PreparedBatch;
  /** Set once the batch can be applied: no batch is logged before. */
  converted?: ConvertedBatch;
  signal: AbortSignal | undefined;
  resolve(result: UpdateResult): void;
  reject(error: unknown): void;
}

/**
 * The changes of a knowledge base: its change log, read on opening and by other processes, written by one process at a time. The
 * process that changes first takes the lock and keeps it until close().
 */
export class BaseChanges implements ChangesOfBase {
  readonly #storage: Storage;
  readonly #log: FollowedLog;
  readonly #flush: FlushSetting;
  #lock: FileLock | undefined;
  #writer: ChangeLogWriter | undefined;
  #waiting: Waiting[] = [];
  readonly #batches = new BatchesInOrder();
  /** Rounds of batches and merges, one after another. */
  #work: Promise<unknown> = Promise.resolve();
  #stopFollowing: (() => void) | undefined;
  /** When an interrupted forgetting is tried again, by performance.now(). */
  #nextCompletion = 0;
  #closed = false;
  /** Stops reading the changes of others, and the background merge, when the base is closed. */
  readonly #closing = new AbortController();
  readonly #words = new WordsSaver(() => this.#source);

  private constructor(storage: Storage, log: FollowedLog, flush: FlushSetting) {
    this.#storage = storage;
    this.#log = log;
    this.#flush = flush;
  }

  /** Applies the log to a storage that was loaded from `content`, and follows it. @throws CORRUPT, UNSUPPORTED, INVALID_ARGUMENT, IO */
  static async open(
    storage: Storage,
    source: LogSource,
    content: FileContent,
    { flush = 'always', ahead, warn, load }: OpenOptions,
  ): Promise<BaseChanges> {
    const followed = new FollowedLog(storage, source, content, load);
    const opened = new BaseChanges(storage, followed, flush);
    await using log = await ahead.take();
    if (log !== undefined) {
      await followed.apply(log);
      const warning = damageWarning(source.pathOf(source.files.changes), log.facts);
      if (warning !== undefined) warn(warning);
    }
    storage.keepVersions(source.versions ?? {});
    await followed.holdFolders(opened.#closing.signal);
    opened.#follow();
    return opened;
  }

  /** Whether another process has merged or replaced the files, so that they must be opened again. */
  get isBehind(): boolean {
    return this.#log.isBehind;
  }

  set onFiles(told: (records: FileContent) => void) {
    this.#log.onFiles = told;
  }

  get #source(): LogSource {
    return this.#log.source;
  }

  get isWriter(): boolean {
    return this.#lock !== undefined;
  }

  get disk(): BaseDisk {
    return baseDisk(this.#source);
  }

  get readOnly(): boolean {
    return this.#source.readOnly;
  }

  /**
   * Applies one batch durably: as Storage.update(), with embeddings of the base's model.
   * @throws as Storage.update(); TEXT_TOO_LONG, errors of the model; IO: another process changes the base (`detail.holder`), or the
   * log cannot be written; CORRUPT for a damaged log; UNSUPPORTED for a base that was opened with `readOnly`
   */
  async update(
    changes: StorageChanges,
    signal: AbortSignal | undefined,
    options: BatchOptions = {},
  ): Promise<UpdateResult> {
    this.#checkWritable();
    const batch = await this.#prepare(changes, signal, options);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, signal, resolve, reject });
      this.#next(() => this.#round());
    });
  }

  #prepare(
    changes: StorageChanges,
    signal: AbortSignal | undefined,
    options: BatchOptions = {},
  ): Promise<PreparedBatch> {
    return this.#batches.prepare(changes, { ...this.#source, base: this.#source }, signal, options);
  }

  /** Writes the changes into the files of the base, and starts the log anew. Batches wait meanwhile. @throws IO, CORRUPT, CANCELLED */
  merge(signal?: AbortSignal | undefined): Promise<void> {
    this.#checkWritable();
    return this.#next(() => this.#merge(signal));
  }

  /**
   * Removes records from every file of the base, and from memory: at once, before it resolves. @throws as update() and merge(): if it
   * fails or is killed after the records were removed, the next forget() or opening completes it
   */
  async forget(given: readonly string[], signal: AbortSignal | undefined): Promise<ForgetResult> {
    this.#checkWritable();
    const { changes } = await this.#prepare({ remove: given }, signal);
    const ids = changes.remove ?? [];
    return this.#next(async () => {
      const base = await this.#forgetting(signal);
      await completeForget(base);
      const former = await formerRecords(this.#storage, ids, base.source);
      const missing = ids.filter((id) => !former.known.has(id));
      await checkIds(this.#storage, { changes: { remove: missing } }, signal);
      const none = { version: this.#storage.version, added: 0, replaced: 0, removed: 0 };
      const { result, texts } =
        ids.length > 0
          ? await forgetRecords(base, ids, former, signal)
          : { result: { ...none, size: this.#storage.size }, texts: [] };
      return { ...result, texts, filesWith: () => filesWith(this.#source, texts) };
    });
  }

  /** Completes a forgetting that was interrupted, and removes the files of one that had not begun. @throws as forget() */
  completeForget(signal: AbortSignal | undefined): Promise<boolean> {
    return this.#next(async () => completeForget(await this.#forgetting(signal)));
  }

  async #forgetting(signal: AbortSignal | undefined): Promise<ForgettingBase> {
    const writer = await this.#openWriter();
    const source = { ...this.#source, signal };
    return { storage: this.#storage, source, writer, merge: () => this.#merge(signal) };
  }

  async drop(ids: readonly string[]): Promise<void> {
    await this.#next(async () => {
      // What was merged meanwhile cannot be read from the log: the base is behind then.
      if (this.#writer === undefined) await this.#log.look();
      await this.#storage.forget(ids, { missingIsFine: true });
    });
  }

  /** Completes a forgetting whose process has ended. */
  async #completeForOther(): Promise<void> {
    const now = performance.now();
    if (this.#closed || this.#source.readOnly || now < this.#nextCompletion) return;
    try {
      await completeForget(await this.#forgetting(this.#closing.signal));
    } catch (err) {
      if (isLocked(err) || this.#closed) return;
      this.#nextCompletion = now + retryMs;
      const { changes: file } = this.#source.files;
      this.#source.log.warn({ err, file }, 'a forgetting that was interrupted cannot be completed');
    } finally {
      await this.#release();
    }
  }

  async letGo(): Promise<void> {
    await this.#next(async () => {
      if (this.#waiting.length === 0) await this.#release();
    });
  }

  async #release(): Promise<void> {
    await this.#words.pause();
    await this.#writer?.close();
    this.#writer = undefined;
    const lock = this.#lock;
    this.#lock = undefined;
    await lock?.release();
  }

  /** Copies one version whole. @throws as backupFiles() */
  backup(folder: string): Promise<KnowledgeBaseBackup> {
    return this.#next(() => backupFiles(this.#source, folder, () => this.#log.content));
  }

  /** Resolves when the batches and merges that have begun are done. */
  async settled(): Promise<void> {
    await this.#work;
  }

  async completed(): Promise<void> {
    await this.#work;
    await this.#words.done();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.abort(new LorekeepError('CANCELLED', 'the knowledge base is closed'));
    this.#stopFollowing?.();
    // A round of batches may begin another one.
    for (let work: unknown; work !== this.#work; await work) work = this.#work;
    await this.#words.pause();
    await this.#writer?.close();
    await this.#lock?.release();
  }

  #checkWritable(): void {
    if (this.#closed) throw new LorekeepError('CLOSED', 'KnowledgeBase: used after close()');
    if (!this.#source.readOnly) return;
    const { path: file } = this.#source;
    const sealed = {
      reason: 'lies in the folder of the installed package',
      remedy: 'copy it to another folder',
    };
    const asked = { reason: 'was opened with readOnly, so it takes no change' };
    throw LorekeepError.about('UNSUPPORTED', { file, ...(isSealed(file) ? sealed : asked) });
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  /** Settles the batches that wait, but for those that it leaves to the next round. */
  async #round(): Promise<void> {
    const waiting = this.#waiting.splice(0);
    if (waiting.length === 0) return;
    try {
      await this.#write(waiting);
    } catch (error) {
      const left = new Set(this.#waiting);
      for (const each of waiting) if (!left.has(each)) each.reject(error);
    }
  }

  /** Logs batches, in one flush, and applies them. A batch about an id of one before it waits for the next round. @throws as update() */
  async #write(waiting: readonly Waiting[]): Promise<void> {
    const writer = await this.#openWriter();
    const group: Waiting[] = [];
    const touched = new Set<string>();
    for (const [index, each] of waiting.entries()) {
      const ids = each.batch.operations.map(({ id }) => id);
      if (ids.some((id) => touched.has(id))) {
        this.#waiting.unshift(...waiting.slice(index));
        this.#next(() => this.#round());
        break;
      }
      if (!(await this.#accepts(each, this.#storage.version + group.length))) continue;
      group.push(each);
      for (const id of ids) touched.add(id);
    }
    const encoded: EncodedBatch[] = [];
    for (const { batch } of group) encoded.push(await encodedBatch(batch.operations));
    const first = this.#storage.version + 1;
    const now = Date.now();
    const written = await Promise.allSettled(
      encoded.map((batch, index) => writer.append(first + index, now, batch)),
    );
    for (const [index, each] of group.entries()) {
      const outcome = written[index] as PromiseSettledResult<void>;
      if (outcome.status === 'rejected') each.reject(outcome.reason);
      else await this.#publish(each, now);
    }
    const most = Math.max(leastMergedBytes, this.#log.content.size) * (mergesRest() ? throttledFactor : 1);
    if (group.length > 0) this.#words.follow(writer);
    if (group.length > 0 && writer.size > most) {
      this.#next(() => this.#merge(this.#closing.signal)).catch((err: unknown) => {
        if (this.#closed) return;
        this.#source.log.warn({ err, file: this.#source.files.changes }, 'the change log is not merged');
      });
    }
  }

  /** Whether a batch can be applied to a version. Settles it otherwise. */
  async #accepts(waiting: Waiting, version: number): Promise<boolean> {
    const { batch, signal, resolve, reject } = waiting;
    try {
      const { ifVersion, ...changes } = batch.changes;
      if (ifVersion !== undefined && ifVersion !== version) {
        const message = `the storage has version ${version}, not ${ifVersion}`;
        throw new LorekeepError('VERSION_MISMATCH', message, { version });
      }
      await checkIds(this.#storage, batch, signal);
      if (batch.operations.length > 0) {
        waiting.converted = await this.#storage.convert(changes, batch.vectors, { signal });
        return true;
      }
      resolve({ version, added: 0, replaced: 0, removed: 0, size: this.#storage.size });
    } catch (error) {
      reject(error);
    }
    return false;
  }

  /** Applies a batch that is in the log, with the time that it has there. */
  async #publish({ converted, resolve, reject }: Waiting, time: number): Promise<void> {
    try {
      const result = await this.#storage.applyConverted(converted as ConvertedBatch);
      this.#storage.setTime(time);
      resolve(result);
    } catch (error) {
      // It is durable: the next round reads it from the log.
      reject(error);
    }
  }

  /** Takes the lock, reads the changes of others, and opens the log for writing. @throws as update() */
  async #openWriter(): Promise<ChangeLogWriter> {
    const { files } = this.#source;
    if (this.#log.isBehind) throw behind(files.records);
    await this.#log.checkFolders();
    const isNew = this.#lock === undefined;
    this.#lock ??= await lockOfOwn(this.#source);
    try {
      if (this.#writer === undefined || this.#storage.version < this.#writtenVersion)
        await this.#log.catchUp();
      if (this.#log.isBehind) throw behind(files.records);
      await this.#log.checkFiles();
      if (isNew) {
        await removeUnfinishedIntents(files.changes);
        await this.#log.dropForgotten();
      }
      this.#writer ??= await this.#startWriter();
      this.#log.isBehind = !(await this.#writer.keepInPlace());
      if (this.#log.isBehind) throw behind(files.records);
      return this.#writer;
    } catch (error) {
      if (this.#writer === undefined || this.#log.isBehind) await this.#release();
      throw error;
    }
  }

  async #startWriter(): Promise<ChangeLogWriter> {
    const { files, model, log: report } = this.#source;
    const options = {
      flush: this.#flush,
      onError: (err: unknown) =>
        report.warn({ err, file: files.changes }, 'acknowledged changes may not be durable'),
    };
    await using log = await readLog(this.#source);
    const version = this.#storage.version;
    if (log?.facts.damage?.torn === false) throw damagedLog(files.changes, log.facts.damage);
    // One that says a version alone may be about another records file or model, and others may read it.
    if (log === undefined || !hasBatches(log.facts)) {
      const header = newHeader(model, this.#log.content, version);
      const created = await ChangeLogWriter.create(files.changes, header, options);
      this.#log.facts = { id: header.id, end: created.size, version };
      this.#log.isForeign = false;
      return created;
    }
    const writer = await ChangeLogWriter.continue(files.changes, log.facts, options);
    this.#log.facts = log.facts;
    if (!this.#log.isForeign) return writer;
    try {
      this.#log.merged(await mergeFiles(this.#storage, this.#source, this.#log.content, writer));
      this.#log.isForeign = false;
      return writer;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  async #merge(signal: AbortSignal | undefined): Promise<void> {
    const writer = await this.#openWriter();
    await this.#words.pause();
    await using log = await ChangeLog.read(this.#source.files.changes, { signal });
    if (!hasBatches(log.facts)) return;
    const source = { ...this.#source, signal };
    this.#log.merged(await mergeFiles(this.#storage, source, this.#log.content, writer));
    this.#source.log.info(
      { file: this.#source.files.records, version: this.#storage.version },
      'changes merged',
    );
  }

  /** The version that this process has logged. */
  get #writtenVersion(): number {
    return this.#writer?.version ?? 0;
  }

  /** Reads what other processes append. Changes of this process are in the storage already. */
  #follow(): void {
    const own = new WeakRef(this);
    const timer = setInterval(() => {
      const changes = own.deref();
      if (changes === undefined) return clearInterval(timer);
      if (!changes.isBehind) changes.#next(() => changes.#look()).catch(() => {});
    }, lookMs);
    timer.unref();
    this.#stopFollowing = () => clearInterval(timer);
  }

  /** Lets others change the base once its files were replaced: it writes nothing any more. */
  async #lookAtFiles(): Promise<void> {
    try {
      await this.#log.checkFiles();
    } finally {
      if (this.#log.isBehind) await this.#release();
    }
  }

  async #look(): Promise<void> {
    if (this.#writer !== undefined) return this.#lookAtFiles();
    if (hasPendingForget(this.#source.files.changes)) await this.#completeForOther();
    await this.#log.look();
  }
}
