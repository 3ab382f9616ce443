import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { factsAt, moveOver } from '../../../lib/basics.js';
import { lockFolder } from '../../base/files/folder-lock.js';
import { copyEmbeddings } from '../kept-embeddings.js';
import type { KnowledgeLog } from '../log.js';
import { addDigests, readForgotten } from './forgotten.js';
import { readManifest } from './manifest.js';
import { folderIdentity, type IndexedFolder, indexedFolders, readFacts } from './place.js';
import { watcherOf } from './watch/watch-lock.js';

/** Share of the documents of an index that a folder has if it is a copy of the indexed one. */
const leastShared = 0.5;
/** Documents that are looked for. */
const sampled = 200;

/** Longest wait for a process that writes the former index, in ms. */
const longestWaitMs = 2000;

/** Locks stay in their places. */
const ownLocks: ReadonlySet<string> = new Set(['.lock', '.watch.lock']);

/**
 * Gives a folder that is new at its path what indexes of other paths have of it: the whole index of the same folder at its former path,
 * unless this path has an index of an earlier folder; else the embeddings, and the digests of forgotten texts, of an index that was about
 * the same folder, or of one whose folder is gone and whose documents it has. `place`: where the index of the folder belongs. `lifted`: whether
 * forgotten texts are taken again. @throws IO, CORRUPT
 */
export async function takeOverMoved(
  folder: string,
  place: string,
  { lifted, signal, log }: { lifted: boolean; signal: AbortSignal; log: KnowledgeLog },
): Promise<void> {
  const identity = await folderIdentity(folder);
  const present = await readFacts(place);
  if (present !== undefined && (identity === undefined || identity === present.identity)) return;
  const isFirst = present === undefined;
  const { moved, earlier } = await indexesAbout(identity, place);
  if (isFirst && moved !== undefined && (await moveIndex(moved.place, place, signal))) {
    log.info({ folder, from: moved.folder }, 'the folder was moved: it keeps its index');
    return;
  }
  const from = moved ?? earlier ?? (isFirst ? await copiedFrom(folder) : undefined);
  if (from === undefined) return;
  // Neither has texts.
  if (!lifted) await addDigests(place, await readForgotten(from.place));
  await copyEmbeddings(from.place, place);
  log.info({ folder, from: from.folder }, 'the folder was moved: its embeddings are used again');
}

/** The index of the folder with this identity at another path, where the folder is no more, and one of a path where it was before. */
async function indexesAbout(
  identity: string | undefined,
  place: string,
): Promise<{ moved?: IndexedFolder | undefined; earlier?: IndexedFolder | undefined }> {
  if (identity === undefined) return {};
  const others = (await indexedFolders()).filter((index) => index.place !== place);
  const own = others.find((index) => index.identity === identity);
  const isMoved = own !== undefined && (await folderIdentity(own.folder)) !== identity;
  return {
    moved: isMoved ? own : undefined,
    earlier: others.find((index) => index.formerIdentities?.includes(identity)),
  };
}

/** The index of a folder that is gone, if `folder` has its documents: a copy of it, such as one on another file system. */
async function copiedFrom(folder: string): Promise<IndexedFolder | undefined> {
  for (const index of await indexedFolders()) {
    const isGone = (await factsAt(index.folder)) === undefined;
    if (isGone && (await hasDocumentsOf(folder, index.place))) return index;
  }
  return undefined;
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
