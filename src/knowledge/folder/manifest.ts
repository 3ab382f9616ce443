import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { exact, isJsonWith, lastingStamp, readRegular, stampAt } from '../../../lib/basics.js';
import { fileNames } from './place.js';

/** A file that was read, as the manifest records it. */
export interface FileEntry {
  /** Relative to the folder, with slashes. */
  path: string;
  /** Changes with the file's content. */
  stamp: string;
  /** Where its records are in the records file, in bytes. */
  begin: number;
  end: number;
  records: number;
  /** Why the file, or parts of it, could not be read. */
  problems?: string[];
  /** Whether it has no other text than forgotten ones, which `problems` says. */
  forgotten?: true;
  /** Problems that an installed package would solve: the file is read again. */
  retry?: true;
}

/** The entries of the last run by path, if the records file is the one that it wrote. */
export async function readManifest(place: string): Promise<Map<string, FileEntry>> {
  const stamp = await stampAt(join(place, fileNames.records));
  return readEntries(place, (records) => records === stamp);
}

/** The paths of the documents of the last run, whatever was done to their records since. */
export async function manifestPaths(place: string): Promise<string[]> {
  return [...(await readEntries(place, () => true)).keys()];
}

/** Returns no entry if the stamp of the records file is not one to `accept`, or if the manifest is damaged. */
async function readEntries(
  place: string,
  accept: (records: string) => boolean,
): Promise<Map<string, FileEntry>> {
  try {
    const text = await readRegular(join(place, fileNames.manifest), maxManifestBytes);
    if (!isManifest(text)) return new Map();
    const first = text.indexOf('\n');
    const { records } = JSON.parse(text.slice(0, first)) as { records: string };
    if (!accept(records)) return new Map();
    const entries = new Map<string, FileEntry>();
    let turn = 0;
    // Not split: a damaged manifest may have as many lines as bytes.
    for (let begin = first + 1; begin < text.length; ) {
      const end = text.indexOf('\n', begin);
      if (end < 0 || end - begin > longestEntry) return new Map();
      const entry = JSON.parse(text.slice(begin, end)) as FileEntry;
      if (!isEntry(entry)) return new Map();
      entries.set(entry.path, entry);
      begin = end + 1;
      if (begin - turn < charactersPerTurn) continue;
      turn = begin;
      await nextTurn();
    }
    return entries;
  } catch {
    return new Map();
  }
}

/** A longer manifest is made again, and one with a longer entry. */
const maxManifestBytes = 256 * 1024 * 1024;
const longestEntry = 1024 * 1024;

/** Characters that are parsed before the event loop has a turn. */
const charactersPerTurn = 256 * 1024;

function isEntry({ path, stamp, begin, end, records, problems = [] }: FileEntry): boolean {
  const numbers = [begin, end, records];
  return (
    typeof path === 'string' &&
    typeof stamp === 'string' &&
    numbers.every((number) => Number.isSafeInteger(number) && number >= 0) &&
    begin <= end &&
    Array.isArray(problems) &&
    problems.every((problem) => typeof problem === 'string')
  );
}

/** The text of the manifest for a records file. */
export function manifestText(recordsStamp: string, entries: readonly FileEntry[]): string {
  const lines = [{ records: recordsStamp }, ...entries].map((line) => JSON.stringify(line));
  return `${lines.join('\n')}\n`;
}

/** Returns whether a text begins as a manifest does. The lines after the first may be damaged: it is made again. */
export function isManifest(text: string): boolean {
  return beginsManifest(text.slice(0, longestFirst).split('\n', 1)[0] as string);
}

/** More characters than the first line of a manifest has. */
const longestFirst = 256;

const beginsManifest = isJsonWith((line) => Object.keys(line).join() === 'records');

/** Tick of a file system's clock: with whole seconds it may be two seconds. */
const fineTickNs = 50_000_000n;
const coarseTickNs = 2_000_000_000n;

/**
 * Returns the stamp of a document and the time of its last change in milliseconds. `isFresh`: it was changed less than `freshMs` ago, or
 * within the same tick of the clock.
 * @throws system errors
 */
export async function stampOf(
  path: string,
  freshMs = 0,
): Promise<{
  stamp: string;
  mtime: number;
  bytes: number;
  isFresh: boolean;
}> {
  const facts = await lstat(path, exact);
  const { mtimeNs, ctimeNs, size } = facts;
  const tickNs = ctimeNs % 1_000_000_000n === 0n ? coarseTickNs : fineTickNs;
  const freshNs = BigInt(freshMs) * 1_000_000n;
  const ageNs = BigInt(Date.now()) * 1_000_000n - ctimeNs;
  // A time that is far in the future is of a clock that jumped.
  const isFresh = ageNs < (freshNs > tickNs ? freshNs : tickNs) && ageNs > -coarseTickNs;
  return { stamp: lastingStamp(facts), mtime: Number(mtimeNs / 1_000_000n), bytes: Number(size), isFresh };
}
