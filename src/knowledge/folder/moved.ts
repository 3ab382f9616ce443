import { existsSync } from 'node:fs';
import { copyFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { moveOver } from '../../../lib/basics.js';
import { lockFolder } from '../../base/files/folder-lock.js';
import type { KnowledgeLog } from '../log.js';
import { readManifest } from './manifest.js';
import { folderIdentity, type IndexedFolder, indexedFolders, indexFiles, readFacts } from './place.js';
import { watcherOf } from './watch/watch-lock.js';

/** Share of the documents of an index that a folder has if it is a copy of the indexed one. */
const leastShared = 0.5;
/** Documents that are looked for. */
const sampled = 200;

/** Longest wait for a process that writes the former index, in ms. */
const longestWaitMs = 2000;

/** Locks stay in their places. */
const ownLocks: ReadonlySet<string> = new Set(['.lock', '.watch.lock']);

/** What a copied folder takes over from an index: neither has texts. */
const takenOver = [indexFiles.embeddings_file, 'forgotten.json'];

/**
 * Gives a folder without an index the index of the same folder at its former path. A folder that came from another file system gets
 * the embeddings, and the digests of forgotten texts, of an index whose folder is gone and whose documents it has. `place`: where the
 * index of the folder belongs; it has no index. @throws IO
 */
export async function takeOverMoved(
  folder: string,
  place: string,
  signal: AbortSignal,
  log: KnowledgeLog,
): Promise<void> {
  const gone = await goneFolders();
  if (gone.length === 0) return;
  const identity = await folderIdentity(folder);
  const moved = gone.find((index) => identity !== undefined && index.identity === identity);
  if (moved !== undefined && (await moveIndex(moved.place, place, signal))) {
    log.info({ folder, from: moved.folder }, 'the folder was moved: it keeps its index');
    return;
  }
  for (const index of gone) {
    if (!(await hasDocumentsOf(folder, index.place))) continue;
    for (const name of takenOver) {
      const from = join(index.place, name);
      if (existsSync(from)) await copyFile(from, join(place, name));
    }
    log.info({ folder, from: index.folder }, 'the embeddings of a folder that is gone are used again');
    return;
  }
}

async function goneFolders(): Promise<(IndexedFolder & { place: string })[]> {
  const all = await indexedFolders();
  const checked = await Promise.all(
    all.map(async (index) => ({ index, there: await folderIdentity(index.folder) })),
  );
  return checked.filter(({ there }) => there === undefined).map(({ index }) => index);
}

/** Returns false if another process has taken it meanwhile. `to` holds nothing but the lock of the caller. */
async function moveIndex(from: string, to: string, signal: AbortSignal): Promise<boolean> {
  if ((await watcherOf(from)) !== undefined) return false;
  const wait = AbortSignal.any([signal, AbortSignal.timeout(longestWaitMs)]);
  const lock = await lockFolder(from, wait).catch((error: unknown) => {
    signal.throwIfAborted();
    if (wait.aborted) return undefined;
    throw error;
  });
  if (lock === undefined) return false;
  try {
    if ((await readFacts(from)) === undefined) return false;
    const names = (await readdir(from)).filter((name) => !ownLocks.has(name));
    // The facts come last: until then, neither place is an index of the new path, and a run that is repeated goes on.
    for (const name of names.sort((a, b) => Number(a === 'folder.json') - Number(b === 'folder.json')))
      await moveOver(join(from, name), join(to, name));
  } finally {
    await lock.release();
  }
  await rm(from, { recursive: true, force: true });
  return true;
}

async function hasDocumentsOf(folder: string, place: string): Promise<boolean> {
  const paths = [...(await readManifest(place)).keys()];
  const step = Math.max(1, Math.ceil(paths.length / sampled));
  const some = paths.filter((_, index) => index % step === 0);
  const there = await Promise.all(
    some.map((path) =>
      stat(join(folder, path)).then(
        (found) => found.isFile(),
        () => false,
      ),
    ),
  );
  return some.length > 0 && there.filter(Boolean).length >= leastShared * some.length;
}
