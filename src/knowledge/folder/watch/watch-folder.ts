import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeFolder, messageOf, stampAt } from '../../../../lib/basics.js';
import { type FileLock, integerArgument, LorekeepError, lockFile } from '../../../../lib/internal.js';
import { holderOf } from '../../changes/base-log.js';
import type { KnowledgeBase } from '../../knowledge-base.js';
import { type KnowledgeLog, noLog } from '../../log.js';
import { type KnowledgeModel, modelResolver } from '../../model.js';
import { openKnowledgeBase } from '../../open.js';
import { OperatorSocket } from '../../operator/operator-socket.js';
import { FolderReader } from '../folder-reader.js';
import { type FolderIndex, indexOfFacts, indexWatched } from '../index-folder.js';
import { hasChanges } from '../kept-records.js';
import { readManifest } from '../manifest.js';
import { defaultModel, type IndexFolderOptions } from '../options.js';
import { existingFolder, fileNames, placeOfOptions, readFacts } from '../place.js';
import { isUntold } from './folder-events.js';
import { watchLockOf } from './watch-lock.js';
import { type WatchedChange, WatchSession } from './watch-session.js';

/** A knowledge base that a watch uses until it releases it. */
export interface OpenedBase {
  kb: KnowledgeBase;
  release(): Promise<void>;
}

export interface WatchFolderOptions extends IndexFolderOptions {
  /**
   * Seconds between two looks at the whole folder, 1 to 86,400. Default: 5 where the system tells no changes, as on network file
   * systems, else 300: a look that finds what events did not tell.
   */
  poll?: number | undefined;
  /** Told of the first index, and of each later one that had to begin anew. */
  onIndex?: ((index: FolderIndex) => void) | undefined;
  /** Told of applied changes, of a folder that is gone or back, and of errors after which the watch tries again. */
  onChange?: ((change: WatchedChange) => void) | undefined;
  /** @internal Opens the knowledge base. Default: opens it for the watch alone. */
  openBase?: ((config: string, signal: AbortSignal) => Promise<OpenedBase>) | undefined;
}

const defaultPoll = { told: 300, untold: 5 };
/** Time between two attempts after an error, in ms: doubled up to the longest. */
const retryMs = { first: 1000, longest: 60_000 };

/**
 * Indexes a folder and keeps the index current until the signal aborts: changes of files are batches of the index's change log, which
 * other processes follow. Resolves after an abort. @throws as indexFolder() for the first index; IO if another process watches the folder
 */
export async function watchFolder(options: WatchFolderOptions & { signal: AbortSignal }): Promise<void> {
  const { poll, onIndex, onChange = () => {}, openBase, ...indexing } = options;
  integerArgument('poll', poll, defaultPoll.told, 1, 86_400);
  const { signal, log = noLog } = options;
  const folder = await existingFolder(options.folder);
  const place = placeOfOptions(folder, options.output);
  makeFolder(place, options.output === undefined ? 0o700 : undefined);
  const lock = await watchLock(place);
  const name = options.model ?? defaultModel;
  try {
    let wait = retryMs.first;
    let isFirst = true;
    for (;;) {
      try {
        const forgotten = isFirst && options.forgotten === true;
        const model = await modelResolver(options.models)(name);
        const whole = forgotten || model === undefined ? undefined : await wholeIndex(place, model, indexing);
        const index = whole ?? (await indexWatched({ ...indexing, forgotten }));
        onIndex?.(index);
        await using reader = new FolderReader(folder, indexing, model as KnowledgeModel);
        const open = openBase ?? ((config) => openOwn(config, { ...indexing, signal }));
        const opened = await open(index.config, signal);
        try {
          const seconds = poll ?? ((await isUntold(folder)) ? defaultPoll.untold : defaultPoll.told);
          const source = { folder, place, reader, kb: opened.kb, log, signal, onChange };
          await using session = await WatchSession.open(source, seconds * 1000);
          wait = retryMs.first;
          isFirst = false;
          await session.run();
        } finally {
          // Indexing takes the lock of the change log for a moment, and others may have the base open here.
          await opened.kb.changes.letGo();
          await opened.release();
        }
      } catch (error) {
        if (signal.aborted) return;
        if (isFirst) throw error;
        log.warn({ err: error, folder }, 'the folder is indexed anew');
        onChange({ kind: 'failed', reason: reasonOf(error) });
        await delay(wait, undefined, { signal }).catch(() => {});
        wait = Math.min(2 * wait, retryMs.longest);
      }
      if (signal.aborted) return;
    }
  } finally {
    await lock.release();
  }
}

/**
 * Returns an index that was made with the same options and has no changes beside its files: what has changed in the folder since then can
 * be applied to it, so that those who have it open follow. Undefined for another one.
 */
async function wholeIndex(
  place: string,
  model: KnowledgeModel,
  options: IndexFolderOptions,
): Promise<FolderIndex | undefined> {
  const facts = await readFacts(place);
  if (facts === undefined || facts.empty === true || facts.built === null) return undefined;
  const records = join(place, fileNames.records);
  await using reader = new FolderReader(facts.folder, options, model);
  const isSame =
    facts.settings === reader.settings &&
    facts.folder === (await existingFolder(options.folder)) &&
    facts.built === (await stampAt(records)) &&
    !(await hasChanges(records, options.signal));
  if (!isSame || (await readManifest(place)).size === 0) return undefined;
  return indexOfFacts(facts, place);
}

const reasonOf = (error: unknown) =>
  error instanceof LorekeepError ? messageOf(error.detail) || error.message : (error as Error).message;

async function openOwn(
  config: string,
  { models, signal, log }: IndexFolderOptions & { signal: AbortSignal; log?: KnowledgeLog | undefined },
): Promise<OpenedBase> {
  const kb = await openKnowledgeBase(config, { models, signal, log });
  const records = join(dirname(config), fileNames.records);
  const socket = await OperatorSocket.open(records, kb, log ?? noLog);
  if (socket !== undefined) kb.attach(socket);
  return { kb, release: () => kb.close() };
}

const lockAttempts = 4;
const lockMs = 50;

/** @throws IO that names the process that watches the folder */
async function watchLock(place: string, attempts = lockAttempts): Promise<FileLock> {
  try {
    return lockFile(watchLockOf(place));
  } catch (cause) {
    // One that asks whether the folder is watched holds it for a moment.
    if (attempts > 1) return delay(lockMs).then(() => watchLock(place, attempts - 1));
    const holder = holderOf(cause);
    if (holder === undefined) throw cause;
    const reason = `the folder is watched by process ${holder} already`;
    throw LorekeepError.about('IO', { file: place, reason, holder }, { cause });
  }
}
