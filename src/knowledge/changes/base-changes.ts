import { stat } from 'node:fs/promises';
import {
  ChangeLog,
  type ChangeLogFacts,
  type FileContent,
  type FileLock,
  identifyFile,
  LorekeepError,
  lockFile,
  type Storage,
  type StorageChanges,
  type UpdateResult,
} from '../../../lib/internal.js';
import { addForgotten } from '../folder/forgotten.js';
import { backupFiles } from './backup.js';
import {
  checkModel,
  damageWarning,
  foldOver,
  isSame,
  type LogSource,
  lockOf,
  newHeader,
  readLog,
} from './base-log.js';
import { refuseConflicts } from './conflicts.js';
import { dropTraces, filesWith } from './forget.js';
import { ChangeLogWriter, damagedLog } from './log-writer.js';
import { mergeFiles } from './merge-files.js';
import { checkIds, type PreparedBatch, prepareBatch } from './prepare.js';
import type { ChangesOfBase, FlushSetting, ForgetResult, KnowledgeBaseBackup } from './public.js';

/** How often a process looks for the changes of another one. Two looks and a read take less than a second. */
const lookMs = 250;
/** A log that is shorter is not merged in the background: reading it takes a few hundredths of a second. */
const leastMergedBytes = 4 * 1024 * 1024;

interface Waiting {
  batch: PreparedBatch;
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
  #source: LogSource;
  readonly #flush: FlushSetting;
  /** The records file that the storage was loaded from, or merged to. */
  #content: FileContent;
  /** Whether the log is about another records file. */
  #isForeign = false;
  /** The log as it was read last. */
  #log: Pick<ChangeLogFacts, 'id' | 'end' | 'version'> | undefined;
  /** Stamp of the log when it was looked at. */
  #seen = '';
  #lock: FileLock | undefined;
  #writer: ChangeLogWriter | undefined;
  #waiting: Waiting[] = [];
  /** Settles when the latest batch has been prepared. */
  #latest: Promise<unknown> = Promise.resolve();
  /** Rounds of batches and merges, one after another. */
  #work: Promise<unknown> = Promise.resolve();
  #stopFollowing: (() => void) | undefined;
  #isBehind = false;
  #closed = false;

  private constructor(storage: Storage, source: LogSource, content: FileContent, flush: FlushSetting) {
    this.#storage = storage;
    this.#source = source;
    this.#content = content;
    this.#flush = flush;
  }

  /** Applies the log to a storage that was loaded from `content`, and follows it. @throws CORRUPT, UNSUPPORTED, INVALID_ARGUMENT, IO */
  static async open(
    storage: Storage,
    source: LogSource,
    content: FileContent,
    { flush = 'always', warn }: { flush?: FlushSetting | undefined; warn(warning: string): void },
  ): Promise<BaseChanges> {
    const opened = new BaseChanges(storage, source, content, flush);
    await using log = await readLog(source);
    if (log !== undefined) {
      await opened.#apply(log);
      const warning = damageWarning(source.pathOf(source.files.changes), log.facts);
      if (warning !== undefined) warn(warning);
    }
    opened.#source = inPaths(source);
    opened.#follow();
    return opened;
  }

  /** Whether another process has merged or replaced the files, so that they must be opened again. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /**
   * Applies one batch durably: as Storage.update(), with embeddings of the base's model.
   * @throws as Storage.update(); TEXT_TOO_LONG, errors of the model; IO: another process changes the base (`detail.holder`), or the
   * log cannot be written; CORRUPT for a damaged log; UNSUPPORTED for a base that was opened with `readOnly`
   */
  async update(
    changes: StorageChanges,
    signal: AbortSignal | undefined,
    turn?: (() => Promise<() => void>) | undefined,
  ): Promise<UpdateResult> {
    this.#checkWritable();
    const before = this.#latest;
    const own = prepareBatch(changes, this.#source, signal, turn);
    // Embedding takes times of its own; batches are applied in the order of the calls.
    const inOrder = Promise.allSettled([own, before]).then(() => own);
    this.#latest = inOrder.catch(() => {});
    const batch = await inOrder;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, signal, resolve, reject });
      this.#next(() => this.#round());
    });
  }

  /** Writes the changes into the files of the base, and starts the log anew. Batches wait meanwhile. @throws IO, CORRUPT, CANCELLED */
  merge(signal?: AbortSignal | undefined): Promise<void> {
    this.#checkWritable();
    return this.#next(() => this.#merge(signal));
  }

  /**
   * Removes records from every file of the base, and from memory: at once, before it resolves. @throws as update() and merge(): if it
   * fails after the records were removed, a merge completes it
   */
  async forget(ids: readonly string[], signal: AbortSignal | undefined): Promise<ForgetResult> {
    this.#checkWritable();
    const texts: string[] = [];
    for (const id of ids) {
      const record = await this.#storage.get(id, { signal });
      if (record !== undefined) texts.push(record.text);
    }
    const result = await this.update({ remove: ids }, signal);
    await this.#next(async () => {
      await this.#storage.forget(ids, { missingIsFine: true });
      await this.#merge(undefined);
      await addForgotten(this.#source.path, texts);
      await dropTraces(this.#source);
    });
    return { ...result, filesWith: () => filesWith(this.#source, texts) };
  }

  /** Copies one version whole. @throws as backupFiles() */
  backup(folder: string): Promise<KnowledgeBaseBackup> {
    return this.#next(() => backupFiles(this.#source, folder, () => this.#content));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopFollowing?.();
    await this.#work;
    await this.#writer?.close();
    await this.#lock?.release();
  }

  #checkWritable(): void {
    if (this.#closed) throw new LorekeepError('CLOSED', 'KnowledgeBase: used after close()');
    if (!this.#source.readOnly) return;
    const reason = 'was opened with readOnly, so it takes no change';
    throw LorekeepError.about('UNSUPPORTED', { file: this.#source.path, reason });
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => {});
    return done;
  }

  /** Logs the batches that wait, in one flush, and applies them. A batch about an id of one before it waits for the next round. */
  async #round(): Promise<void> {
    const waiting = this.#waiting.splice(0);
    if (waiting.length === 0) return;
    let writer: ChangeLogWriter;
    try {
      writer = await this.#openWriter();
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      return;
    }
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
    const first = this.#storage.version + 1;
    const now = Date.now();
    const written = await Promise.allSettled(
      group.map(({ batch }, index) => writer.append(first + index, now, batch.operations)),
    );
    for (const [index, each] of group.entries()) {
      const outcome = written[index] as PromiseSettledResult<void>;
      if (outcome.status === 'rejected') each.reject(outcome.reason);
      else await this.#publish(each);
    }
    if (group.length > 0 && writer.size > Math.max(leastMergedBytes, this.#content.size)) {
      this.#next(() => this.#merge(undefined)).catch((err: unknown) =>
        this.#source.log.warn({ err, file: this.#source.files.changes }, 'the change log is not merged'),
      );
    }
  }

  /** Whether a batch can be applied to a version. Settles it otherwise. */
  async #accepts({ batch, signal, resolve, reject }: Waiting, version: number): Promise<boolean> {
    try {
      const { ifVersion } = batch.changes;
      if (ifVersion !== undefined && ifVersion !== version) {
        const message = `the storage has version ${version}, not ${ifVersion}`;
        throw new LorekeepError('VERSION_MISMATCH', message, { version });
      }
      await checkIds(this.#storage, batch, signal);
      if (batch.operations.length > 0) return true;
      resolve({ version, added: 0, replaced: 0, removed: 0, size: this.#storage.size });
    } catch (error) {
      reject(error);
    }
    return false;
  }

  /** Applies a batch that is in the log. */
  async #publish({ batch, resolve, reject }: Waiting): Promise<void> {
    try {
      const { ifVersion: _, ...changes } = batch.changes;
      resolve(await this.#storage.update(changes, batch.vectors));
    } catch (error) {
      // It is durable: the next round reads it from the log.
      reject(error);
    }
  }

  /** Takes the lock, reads the changes of others, and opens the log for writing. @throws as update() */
  async #openWriter(): Promise<ChangeLogWriter> {
    const { files } = this.#source;
    this.#lock ??= lockFile(lockOf(files.changes));
    try {
      if (this.#writer === undefined || this.#storage.version < this.#writtenVersion) await this.#catchUp();
      if (this.#isBehind) throw behind(files.records);
      this.#writer ??= await this.#startWriter();
      return this.#writer;
    } catch (error) {
      if (this.#writer === undefined) {
        const lock = this.#lock;
        this.#lock = undefined;
        await lock?.release();
      }
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
    if (log === undefined) {
      const header = newHeader(model, this.#content, version);
      const created = await ChangeLogWriter.create(files.changes, header, options);
      this.#log = { id: header.id, end: created.size, version };
      return created;
    }
    if (log.facts.damage?.torn === false) throw damagedLog(files.changes, log.facts.damage);
    const writer = await ChangeLogWriter.continue(files.changes, log.facts, options);
    this.#log = log.facts;
    if (!this.#isForeign) return writer;
    try {
      await this.#adopt(log.facts, writer);
      return writer;
    } catch (error) {
      await writer.close();
      throw error;
    }
  }

  /** Makes a log that is about another records file one about this one. */
  async #adopt({ frames, end }: ChangeLogFacts, writer: ChangeLogWriter): Promise<void> {
    if (frames.some(({ kind }) => kind === 'batch')) {
      this.#content = await mergeFiles(this.#storage, this.#source, this.#content, writer);
    } else {
      await writer.restart(newHeader(this.#source.model, this.#content, this.#storage.version), end);
    }
    this.#isForeign = false;
  }

  async #merge(signal: AbortSignal | undefined): Promise<void> {
    const writer = await this.#openWriter();
    await using log = await ChangeLog.read(this.#source.files.changes, { signal });
    if (!log.facts.frames.some(({ kind }) => kind === 'batch')) return;
    const source = { ...this.#source, signal };
    this.#content = await mergeFiles(this.#storage, source, this.#content, writer);
    this.#source.log.info(
      { file: this.#source.files.records, version: this.#storage.version },
      'changes merged',
    );
  }

  /** The version that this process has logged. */
  get #writtenVersion(): number {
    return this.#writer?.version ?? 0;
  }

  /** Applies batches that the log has and the storage has not. */
  async #catchUp(): Promise<void> {
    const last = this.#log;
    // Of a log that goes on, only the new part is read.
    const from = last?.version === this.#storage.version ? last : undefined;
    await using tail = await readLog(this.#source, from);
    if (tail === undefined) return;
    if (from === undefined || tail.facts.id === from.id) return this.#apply(tail);
    await using log = await readLog(this.#source);
    if (log !== undefined) await this.#apply(log);
  }

  async #apply(log: ChangeLog): Promise<void> {
    const { facts } = log;
    const { config, signal } = this.#source;
    checkModel(facts, this.#source);
    if (this.#log === undefined) return this.#applyFirst(log);
    const after = this.#storage.version;
    if (facts.id !== this.#log.id && facts.baseVersion > after) {
      this.#isBehind = true;
      return;
    }
    if (facts.version > after) {
      await using folded = await log.fold({ after, upTo: facts.version }, config.fields, { signal });
      await this.#storage.applyLogged(folded, facts.version, { signal });
    }
    this.#log = facts;
  }

  /** Applies a log to a storage that has read none. */
  async #applyFirst(log: ChangeLog): Promise<void> {
    const { facts } = log;
    const { signal, files } = this.#source;
    const { changes, isForeign } = await foldOver(log, this.#content, this.#source);
    await using folded = changes;
    if (isForeign) {
      // Another process may have merged since the records were read.
      if (!isSame(await identifyFile(files.records), this.#content)) throw new FilesReplaced();
      await refuseConflicts(this.#storage, folded, this.#source);
    }
    this.#isForeign = isForeign;
    await this.#storage.applyLogged(folded, facts.version + (isForeign ? 1 : 0), { signal });
    this.#log = facts;
  }

  /** Reads what other processes append. Changes of this process are in the storage already. */
  #follow(): void {
    const own = new WeakRef(this);
    const timer = setInterval(() => {
      const changes = own.deref();
      if (changes === undefined) return clearInterval(timer);
      if (changes.#writer === undefined && !changes.#isBehind)
        changes.#next(() => changes.#look()).catch(() => {});
    }, lookMs);
    timer.unref();
    this.#stopFollowing = () => clearInterval(timer);
  }

  async #look(): Promise<void> {
    const found = await stat(this.#source.files.changes, { bigint: true }).catch(() => undefined);
    const stamp = found === undefined ? '' : `${found.ino}:${found.size}:${found.mtimeNs}`;
    if (stamp === this.#seen || this.#writer !== undefined) return;
    this.#seen = stamp;
    try {
      await this.#catchUp();
    } catch (error) {
      if (error instanceof FilesReplaced) this.#isBehind = true;
      else
        this.#source.log.warn(
          { err: error, file: this.#source.files.changes },
          'the change log cannot be followed',
        );
    }
  }
}

/** The records file is no longer the one that was read: it must be opened again. */
export class FilesReplaced extends Error {}

/** A server opens files by names of descriptors, which end with the opening. */
function inPaths(source: LogSource): LogSource {
  const { pathOf, files } = source;
  const named = Object.entries(files).map(([name, file]) => [name, file && pathOf(file)]);
  return { ...source, path: pathOf(source.path), files: Object.fromEntries(named) };
}

function behind(file: string): LorekeepError {
  const reason = 'was merged or replaced by another process; open the knowledge base again';
  return LorekeepError.about('CORRUPT', { file, reason });
}
