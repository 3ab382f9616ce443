import { readdir, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { LorekeepError } from '../../../lib/internal.js';
import { lockFolder } from '../../base/files/folder-lock.js';
import { liveRecords } from './live-records.js';
import { readManifest } from './manifest.js';
import { fileNames, type IndexedFolder, indexedFolders, indexFiles, lossOf } from './place.js';
import { watcherOf } from './watch/watch-lock.js';

/**
 * ready: it can be searched. gone: its folder is not there. emptied: nothing is in its folder now, as in the place of a disk that is
 * not mounted. empty: its folder had no text at the last run. unfinished: a first run goes on, or was interrupted. damaged: files of
 * the index are missing.
 */
export type IndexState = 'ready' | 'gone' | 'emptied' | 'empty' | 'unfinished' | 'damaged';

/** An index of a folder in the user's data folder. */
export interface ListedIndex {
  /** Absolute path of the folder. */
  folder: string;
  /** Absolute path of the config of its knowledge base. */
  config: string;
  state: IndexState;
  /** Files with records. */
  files: number;
  /** With the changes since the last run. */
  records: number;
  /** Documents that could not be read, as a whole or in part, at the last run. */
  unread: number;
  /** Files of the index that are missing. */
  missing: string[];
  /** Bytes on disk. */
  bytes: number;
  /** ISO 8601. */
  indexedAt: string;
}

/** Lists the indexes in the user's data folder, the latest first. */
export async function listIndexes(): Promise<ListedIndex[]> {
  return Promise.all((await indexedFolders()).map(listed));
}

async function listed(index: IndexedFolder): Promise<ListedIndex> {
  const { folder, config, place, indexedAt } = index;
  // Damage is told by `missing`.
  const records = (await liveRecords(index).catch(() => undefined)) ?? index.records;
  const names = await readdir(place).catch((): string[] => []);
  const all = await readdir(place, { recursive: true }).catch((): string[] => []);
  const sizes = await Promise.all(all.map((name) => sizeOf(join(place, name))));
  const needed = [fileNames.config, fileNames.records, indexFiles.index_file, indexFiles.bm25_file];
  const missing = index.empty === true ? [] : needed.filter((name) => !names.includes(name));
  const entries = [...(await readManifest(place)).values()];
  const files = entries.length === 0 ? index.files : entries.filter((entry) => entry.records > 0).length;
  const unread = entries.filter(({ problems = [], forgotten }) => problems.length > 0 && !forgotten).length;
  const loss = await lossOf(folder);
  const state = loss === 'emptied' && index.empty === true ? 'empty' : (loss ?? stateOf(index, missing));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  return { folder, config, state, files, records, unread, missing, bytes, indexedAt };
}

function stateOf({ empty, built }: IndexedFolder, missing: readonly string[]): IndexState {
  if (empty === true) return 'empty';
  if (missing.length === 0) return 'ready';
  return built === null ? 'unfinished' : 'damaged';
}

const sizeOf = (path: string) =>
  stat(path).then(
    (found) => (found.isFile() ? found.size : 0),
    () => 0,
  );

/** Longest wait for a run that writes the index, in ms. */
const longestWaitMs = 2000;

/** Removes the index of a folder, or of a config in its own folder. The documents stay. @throws NOT_FOUND, IO while it is written or watched */
export async function removeIndex(folder: string, signal: AbortSignal): Promise<ListedIndex> {
  const path = resolve(folder);
  const all = await listIndexes();
  // Indexes name folders without links.
  const real = await realpath(path).catch(() => path);
  const isNamed = ({ folder: indexed }: ListedIndex) => indexed === path || indexed === real;
  const found = all.find(isNamed) ?? all.find(({ config }) => isAt(config, path));
  if (found === undefined)
    throw LorekeepError.about('NOT_FOUND', { file: path, reason: 'has no index in the data folder' });
  const place = dirname(found.config);
  const watcher = await watcherOf(place);
  if (watcher !== undefined) {
    const reason = `is kept current by process ${watcher}; end its watch first`;
    throw LorekeepError.about('IO', { file: path, reason, holder: watcher });
  }
  const wait = AbortSignal.any([signal, AbortSignal.timeout(longestWaitMs)]);
  const lock = await lockFolder(place, wait).catch((cause: unknown) => {
    signal.throwIfAborted();
    if (!wait.aborted) throw cause;
    const reason = 'is being written by another process; try again when it has ended';
    throw LorekeepError.about('IO', { file: place, reason }, { cause });
  });
  try {
    // Without its facts it is no index, whatever happens afterwards.
    await rm(join(place, fileNames.facts), { force: true });
    await rm(place, { recursive: true, force: true });
  } finally {
    await lock.release();
  }
  return found;
}

const isAt = (config: string, path: string) => config === path || dirname(config) === path;
