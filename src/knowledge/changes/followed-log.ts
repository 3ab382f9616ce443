import { stampAt } from '../../../lib/basics.js';
import {
  type ChangeLog,
  type ChangeLogFacts,
  type FileContent,
  identifyFile,
  LorekeepError,
  type Storage,
} from '../../../lib/internal.js';
import { applyFromFile, applyVersions, type OnRemoved } from './apply-versions.js';
import {
  checkModel,
  foldAll,
  hasBatches,
  isSame,
  type LogSource,
  readLog,
  versionOfFile,
} from './base-log.js';
import { refuseConflicts } from './conflicts.js';
import { ForgottenByOthers } from './forgotten-batches.js';
import { HeldFolders, namedFiles } from './held-folders.js';

/** After so many looks at files that another process replaces, the base is behind. */
const mostReplacedLooks = 8;

/** Files that were loaded again, without the change log. */
export interface LaterFiles {
  storage: Storage;
  content: FileContent;
}

/** The change log of a knowledge base as this process has read it, and the storage that has its changes. */
export class FollowedLog {
  readonly #storage: Storage;
  source: LogSource;
  readonly #load: (signal: AbortSignal | undefined) => Promise<LaterFiles>;
  /** The records file that the storage was loaded from, or merged to. */
  content: FileContent;
  /** Whether the log is about another records file. */
  isForeign = false;
  /** The log as it was read last. */
  facts: Pick<ChangeLogFacts, 'id' | 'end' | 'version'> | undefined;
  /** Whether another process has merged or replaced the files, so that they must be opened again. */
  isBehind = false;
  /** Told when the files have the content of the storage again, after a merge of this process or of another one. */
  onFiles: ((records: FileContent) => void) | undefined;
  readonly #forgotten: ForgottenByOthers;
  readonly #onRemoved: OnRemoved = (removed) => this.#forgotten.add(removed);
  #folders: HeldFolders | undefined;
  /** Stamp of the log when it was looked at. */
  #seen: string | undefined = '';
  /** Stamp of the records file when its content was compared with `content`. */
  #checked = '';
  /** Looks one after another that found other files than the log is about. */
  #replacedLooks = 0;

  constructor(
    storage: Storage,
    source: LogSource,
    content: FileContent,
    load: (signal: AbortSignal | undefined) => Promise<LaterFiles>,
  ) {
    this.#storage = storage;
    this.source = source;
    this.content = content;
    this.#load = load;
    this.#forgotten = new ForgottenByOthers(source.pathOf(source.files.changes));
  }

  /** The files have the content of the storage. */
  merged(content: FileContent): void {
    this.content = content;
    this.onFiles?.(content);
  }

  /**
   * Opens files by their paths from now on: a server opens them by names of descriptors, which end with the opening. Their folders must
   * stay the same. `signal` ends later work.
   */
  async holdFolders(signal: AbortSignal): Promise<void> {
    const { source } = this;
    const files = namedFiles(source);
    this.#folders = await HeldFolders.of(source.files, files);
    this.source = { ...source, path: source.pathOf(source.path), files, signal };
  }

  /** Refuses to write to another folder in the place of one that was opened, or to none. @throws CORRUPT */
  async checkFolders(): Promise<void> {
    const state = await this.#folders?.state();
    if (state === undefined || state === 'same') return;
    // An absent one may come back.
    this.isBehind ||= state === 'other';
    throw behind(this.source.files.records);
  }

  /** Refuses to go on from a records file that is there no more: it was replaced without the log. @throws CORRUPT; the base is behind then */
  async checkFiles(): Promise<void> {
    const { records } = this.source.files;
    const stamp = await stampAt(records);
    if (stamp === undefined || stamp === this.#checked) return;
    this.isBehind = !isSame(await identifyFile(records, { signal: this.source.signal }), this.content);
    if (this.isBehind) throw behind(records);
    this.#checked = stamp;
  }

  /** Reads what other processes have appended, and drops what they have forgotten. Never rejects for a log that cannot be read. */
  async look(): Promise<void> {
    if ((await this.#folders?.state()) === 'other') {
      this.isBehind = true;
      return;
    }
    const stamp = await stampAt(this.source.files.changes);
    if (stamp === this.#seen) return this.dropForgotten();
    this.#seen = stamp;
    try {
      await this.catchUp();
    } catch (error) {
      if (error instanceof FilesReplaced) {
        // A merge that goes on is looked at again.
        this.isBehind = ++this.#replacedLooks > mostReplacedLooks;
        this.#seen = '';
      } else if (!this.source.signal?.aborted)
        this.source.log.warn(
          { err: error, file: this.source.files.changes },
          'the change log cannot be followed',
        );
    }
  }

  /** Drops from memory what other processes have forgotten. */
  async dropForgotten(): Promise<void> {
    const ids = await this.#forgotten.take();
    // A record that was added again stays.
    if (ids.length > 0) await this.#storage.forgetFormer(ids);
  }

  /** Applies batches that the log has and the storage has not. */
  async catchUp(): Promise<void> {
    const last = this.facts;
    // Of a log that goes on, only the new part is read.
    const from = last?.version === this.#storage.version ? last : undefined;
    await using tail = await readLog(this.source, from);
    if (tail === undefined) return;
    if (last === undefined && (await this.#isMissed(tail))) {
      checkModel(tail.facts, this.source);
      return await this.#takeFiles();
    }
    if (from === undefined || tail.facts.id === from.id) return await this.apply(tail);
    await using log = await readLog(this.source);
    if (log !== undefined) await this.apply(log);
  }

  /** Whether a base that was opened without a log has missed the first one: it is merged, and another one was begun. */
  async #isMissed({ facts }: ChangeLog): Promise<boolean> {
    if (versionOfFile(facts, this.content) !== undefined) return false;
    const { files, signal } = this.source;
    return !isSame(await identifyFile(files.records, { signal }), this.content);
  }

  async apply(log: ChangeLog): Promise<void> {
    const { facts } = log;
    if (this.facts === undefined) return this.#applyFirst(log);
    const after = this.#storage.version;
    const isAnew = facts.id !== this.facts.id;
    if (isAnew || hasBatches(facts)) checkModel(facts, this.source);
    if (isAnew && facts.baseVersion > after) return this.#takeFiles();
    if (facts.version > after) await applyVersions(this.#storage, log, after, this.source, this.#onRemoved);
    this.facts = facts;
    if (isAnew) await this.#noteMerge(facts.records);
  }

  /** Another process has merged: the records file has what it says. */
  async #noteMerge(records: FileContent): Promise<void> {
    const { files, signal } = this.source;
    if (!isSame(await identifyFile(files.records, { signal }), records)) return;
    this.merged(records);
  }

  /** Takes the files that another process has merged, with batches in them that this one has not read. @throws as load(), FilesReplaced */
  async #takeFiles(): Promise<void> {
    const { storage, content } = await this.#load(this.source.signal);
    try {
      await using log = await readLog(this.source);
      const after = log && versionOfFile(log.facts, content);
      // Merged once more meanwhile, or replaced by hand.
      if (log === undefined || after === undefined) throw new FilesReplaced();
      await applyFromFile(storage, log, after, this.source, this.#onRemoved);
      if (storage.version > this.#storage.version) await this.#storage.adopt(storage);
      this.facts = log.facts;
      await this.#noteMerge(content);
    } finally {
      await storage.close();
    }
  }

  /** Applies a log to a storage that has read none. */
  async #applyFirst(log: ChangeLog): Promise<void> {
    const { facts } = log;
    if (hasBatches(facts)) checkModel(facts, this.source);
    const { signal, files } = this.source;
    const after = versionOfFile(facts, this.content);
    this.isForeign = after === undefined;
    if (after === undefined) {
      // Another process may have merged since the records were read.
      await using folded = await foldAll(log, this.source);
      if (!isSame(await identifyFile(files.records), this.content)) throw new FilesReplaced();
      await refuseConflicts(this.#storage, folded, this.source);
      await this.#storage.applyLogged(folded, facts.version + 1, { signal });
    } else await applyFromFile(this.#storage, log, after, this.source, this.#onRemoved);
    this.facts = facts;
  }
}

/** The error of a change to a base that is behind. */
export function behind(file: string): LorekeepError {
  const reason = 'was merged or replaced by another process; open the knowledge base again';
  return LorekeepError.about('CORRUPT', { file, reason });
}

/** The records file is no longer the one that was read: it must be opened again. */
export class FilesReplaced extends Error {}
