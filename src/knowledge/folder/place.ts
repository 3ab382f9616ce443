import { createHash } from 'node:crypto';
import { opendir, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { factsAt, LorekeepError, readRegular, unreadable } from '../../../lib/basics.js';
import { dataFolder } from '../../base/files/data-folder.js';
import { isWithin } from '../../base/files/within.js';
import type { RepeatedOptions } from './options.js';

/** The files of an index of a folder, within its own folder. */
export const fileNames = {
  facts: 'folder.json',
  manifest: 'files.jsonl',
  config: 'kb.json',
  records: 'records.json',
} as const;

/** The files that a build adds. */
export const indexFiles = {
  index_file: 'kb.index',
  bm25_file: 'kb.bm25',
  embeddings_file: 'kb.embeddings',
} as const;

/** The names of all files of an index. */
export const indexFileNames: ReadonlySet<string> = new Set([
  ...Object.values(fileNames),
  ...Object.values(indexFiles),
]);

/** Content of folder.json. */
export interface FolderFacts {
  kind: 'lorekeep folder index';
  version: 1;
  /** Absolute path of the folder with the documents. */
  folder: string;
  /** Absolute path by which it was named, if that has links. */
  named?: string | undefined;
  /** Identifies everything besides the files that the records depend on. */
  settings: string;
  /** Options of the run; absent in files of earlier versions. */
  options?: RepeatedOptions | undefined;
  /** Tells the folder from others wherever it is moved within its file system; absent in files of earlier versions. */
  identity?: string | undefined;
  /** Identities of other folders that had this path when it was indexed, the latest last. */
  formerIdentities?: readonly string[] | undefined;
  /** `search` as the run wrote it into the config: what differs there is the user's. Absent in files of earlier versions. */
  search?: object | undefined;
  /** Limits of relevance that were learned from the records, and how many there were. Absent in files of earlier versions. */
  learned?: { records: number; limits: object } | undefined;
  /** Languages of the texts that the model does not know; absent if it knows them. */
  unknownLanguages?: readonly string[] | undefined;
  /** ISO 8601. */
  indexedAt: string;
  files: number;
  records: number;
  /** Of them, those that no file gave. */
  kept?: number | undefined;
  /** How far a run has come that has not finished. */
  progress?: { phase: string; done: number; total: number };
  /** The folder had text once and has none now. */
  empty?: true;
  /** Identity of the records file that the index files were built from; null if they were not built. */
  built: string | null;
}

export const indexesFolder = (): string => join(dataFolder(), 'folders');

/** Returns the folder in which the index of a folder is kept by default. `folder` has no links on its way. */
export function placeOf(folder: string): string {
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 12);
  const name =
    basename(folder)
      .replace(/[^\p{L}\p{N}._-]/gu, '-')
      .slice(0, 40) || 'root';
  return join(indexesFolder(), `${name}-${digest}`);
}

/** Returns the folder of the index of a folder. `output`: as of indexFolder(). */
export const placeOfOptions = (folder: string, output: string | undefined): string =>
  output === undefined ? placeOf(folder) : resolve(output);

/** Returns the absolute path of an existing folder, without links. @throws NOT_FOUND, INVALID_ARGUMENT, IO */
export async function existingFolder(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch (cause) {
    throw unreadable(path, cause, 'folder');
  }
  throw LorekeepError.about('INVALID_ARGUMENT', { file: path, reason: 'is a file; a folder is expected' });
}

/** Upper bound of folder.json's size. */
const maxFactsBytes = 1024 * 1024;

/** Reads folder.json; undefined if it is absent, damaged or not ours. */
export async function readFacts(place: string): Promise<FolderFacts | undefined> {
  try {
    const facts = JSON.parse(await readRegular(join(place, fileNames.facts), maxFactsBytes)) as FolderFacts;
    const isOurs = facts.kind === 'lorekeep folder index' && facts.version === 1;
    return isOurs && isWhole(facts) ? facts : undefined;
  } catch {
    return undefined;
  }
}

/** Whether facts have the types that all indexes are listed by: a damaged one must not keep the others from use. */
function isWhole({ folder, indexedAt, files, records, formerIdentities = [] }: FolderFacts): boolean {
  return (
    [folder, indexedAt].every((text) => typeof text === 'string') &&
    [files, records].every(Number.isSafeInteger) &&
    Array.isArray(formerIdentities)
  );
}

/** An index of a folder. */
export interface IndexedFolder extends FolderFacts {
  /** Absolute path of the config of its knowledge base. */
  config: string;
  /** Absolute path of the folder of the index. */
  place: string;
}

/** Returns what tells a folder from others on its file system: it stays when the folder is moved. Undefined for none. */
export async function folderIdentity(folder: string): Promise<string | undefined> {
  const found = await factsAt(folder);
  // Windows and some network file systems give no number.
  return found?.isDirectory() && found.ino !== 0n ? `${found.ino}:${found.birthtimeNs}` : undefined;
}

/** Former identities that are kept: the latest ones. */
const mostFormer = 500;

/** Returns the identities of other folders that had the path of an index before. `before`: its facts. */
export function formerIdentities(
  before: FolderFacts | undefined,
  identity: string | undefined,
): readonly string[] {
  const { identity: last, formerIdentities: former = [] } = before ?? {};
  const all = new Set(last === undefined ? former : [...former, last]);
  return [...all].filter((one) => one !== identity).slice(-mostFormer);
}

/** What an indexed folder has lost: "gone": it is not there. "emptied": nothing is in it, as in the place of a disk that is not mounted. */
export async function lossOf(folder: string): Promise<'gone' | 'emptied' | undefined> {
  const isThere = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere) return 'gone';
  return (await hasEntries(folder)) ? undefined : 'emptied';
}

/** Also for a folder that cannot be read. */
async function hasEntries(folder: string): Promise<boolean> {
  try {
    const entries = await opendir(folder);
    const first = await entries.read();
    await entries.close();
    return first !== null;
  } catch {
    return true;
  }
}

/** Returns the folder of the index whose config this is, if the folder is not there. */
export async function goneFolderOf(config: string): Promise<string | undefined> {
  const facts = await readFacts(dirname(config));
  return facts !== undefined && (await factsAt(facts.folder)) === undefined ? facts.folder : undefined;
}

/** Returns the folder of the index whose config this is, if it had no text at the last run: then the index has no files to open. */
export async function emptyFolderOf(config: string): Promise<string | undefined> {
  const facts = await readFacts(dirname(config));
  return facts?.empty === true ? facts.folder : undefined;
}

/** Lists the indexes in the user's data folder, latest first. Those whose first run has not finished have no `built`. */
export async function indexedFolders(): Promise<IndexedFolder[]> {
  const names = await readdir(indexesFolder()).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const place = join(indexesFolder(), name);
      const facts = await readFacts(place);
      return facts && { ...facts, config: join(place, fileNames.config), place };
    }),
  );
  return found.filter((index) => index !== undefined).sort((a, b) => b.indexedAt.localeCompare(a.indexedAt));
}

/**
 * Returns the indexes that a search in `folder` may mean, latest first: the index of the folder itself, else of the nearest
 * folder above it, and the indexes of folders below.
 */
export async function indexesFor(folder: string): Promise<IndexedFolder[]> {
  const at = await realpath(folder).catch(() => resolve(folder));
  const all = await indexedFolders();
  const begun = all.filter((index) => index.records > 0 || index.empty === true);
  // Nothing else is there while the files of the first run are read.
  const indexes = begun.some((index) => isWithin(at, index.folder) || isWithin(index.folder, at))
    ? begun
    : all;
  const above = indexes.filter((index) => isWithin(at, index.folder));
  const nearest = above.sort((a, b) => b.folder.length - a.folder.length)[0];
  return indexes.filter((index) => index === nearest || (index.folder !== at && isWithin(index.folder, at)));
}

/** Returns the index of exactly this folder, which may be gone. */
export async function indexOf(folder: string): Promise<IndexedFolder | undefined> {
  const at = await realpath(folder).catch(() => resolve(folder));
  return (await indexedFolders()).find((index) => index.folder === at);
}
