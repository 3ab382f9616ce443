import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { moveOver } from '../../../lib/basics.js';
import { lockFolder } from '../../base/files/folder-lock.js';
import { copyEmbeddings } from '../kept-embeddings.js';
import type { KnowledgeLog } from '../log.js';
import { addDigests, forgottenIn, readForgotten } from './forgotten.js';
import { manifestPaths } from './manifest.js';
import { folderIdentity, type IndexedFolder, indexedFolders, lossOf, placeOf, readFacts } from './place.js';
import { watcherOf } from './watch/watch-lock.js';

/** Share of the documents of an index that a folder has if it is a copy of the indexed one. */
const leastShared = 0.5;
/** Documents that are looked for. */
const sampled = 200;

/** Longest wait for a process that writes the former index, in ms. */
const longestWaitMs = 2000;

/** Locks stay in their places, and so do digests of forgotten texts: another folder may take the former path. */
const stays: ReadonlySet<string> = new Set(['.lock', '.watch.lock', basename(forgottenIn(''))]);

/**
 * Gives a folder that is new at its path what indexes of other paths have of it: the whole index of the same folder at its former path,
 * unless this path has an index of an earlier folder; else the embeddings, and the digests of forgotten texts, of indexes that were about
 * the same folder, or about those to which a link led by which it is named, or of those whose folders are gone and whose documents it has.
 * `place`: where the index of the folder is; only one in its default place takes over. `named`: path by which it is named. `lifted`:
 * whether forgotten texts are taken again. @throws IO, CORRUPT
 */
export async function takeOverMoved(
  folder: string,
  place: string,
  { named, lifted, signal, log }: { named?: string; lifted: boolean; signal: AbortSignal; log: KnowledgeLog },
): Promise<void> {
  if (place !== placeOf(folder)) return;
  const identity = await folderIdentity(folder);
  const present = await readFacts(place);
  if (present !== undefined && (identity === undefined || identity === present.identity)) return;
  const { moved, earlier } = await indexesAbout(identity, place);
  const about = [moved, earlier, await namedAlike(folder, named)].find((indexes) => indexes.length > 0);
  const from = about ?? (await copiedFrom(folder, place));
  const [latest] = from;
  if (latest === undefined) return;
  // Neither has texts.
  if (!lifted) for (const index of from) await addDigests(place, await readForgotten(index.place));
  if (present === undefined && moved.length > 0 && (await moveIndex(latest.place, place, signal))) {
    log.info({ folder, from: latest.folder }, 'the folder was moved: it keeps its index');
    return;
  }
  await copyEmbeddings(latest.place, place);
  log.info(
    { folder, from: latest.folder },
    'the embeddings of another path, or of another folder, are used again',
  );
}

/** The indexes of the folder with this identity at other paths, where it is no more, and those of paths where it was before; the latest first. */
async function indexesAbout(
  identity: string | undefined,
  place: string,
): Promise<{ moved: IndexedFolder[]; earlier: IndexedFolder[] }> {
  if (identity === undefined) return { moved: [], earlier: [] };
  const others = (await indexedFolders()).filter((index) => index.place !== place);
  const moved: IndexedFolder[] = [];
  for (const index of others)
    if (index.identity === identity && (await folderIdentity(index.folder)) !== identity) moved.push(index);
  return { moved, earlier: others.filter((index) => index.formerIdentities?.includes(identity)) };
}

/** The indexes of other folders to which a link led by which `folder` is named. */
async function namedAlike(folder: string, named: string | undefined): Promise<IndexedFolder[]> {
  if (named === undefined || named === folder) return [];
  return (await indexedFolders()).filter((index) => index.named === named && index.folder !== folder);
}

/** The indexes of folders that are gone, or empty, whose documents `folder` has: it is a copy, such as one on another file system. */
async function copiedFrom(folder: string, place: string): Promise<IndexedFolder[]> {
  const found: IndexedFolder[] = [];
  for (const index of await indexedFolders()) {
    if (index.place === place || (await lossOf(index.folder)) === undefined) continue;
    if (await hasDocumentsOf(folder, index.place)) found.push(index);
  }
  return found;
}

/** Returns false if another process has taken it meanwhile. `to` has no index. */
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
    const names = (await readdir(from)).filter((name) => !stays.has(name));
    // The facts come last: until then, neither place is an index of the new path, and a run that is repeated goes on.
    for (const name of names.sort((a, b) => Number(a === 'folder.json') - Number(b === 'folder.json')))
      await moveOver(join(from, name), join(to, name));
  } finally {
    await lock.release();
  }
  if (!existsSync(forgottenIn(from))) await rm(from, { recursive: true, force: true });
  return true;
}

async function hasDocumentsOf(folder: string, place: string): Promise<boolean> {
  const paths = await manifestPaths(place);
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
