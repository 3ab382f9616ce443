import { join } from 'node:path';
import { type Chunk, type ChunkOptions, type Cut, type Fits, fittingChunks } from '../../documents/chunks.js';
import { UnreadableDocument } from '../../documents/document.js';
import { flagThatReads, noTextReason } from '../../documents/formats/formats.js';
import type { TableMapping } from '../../documents/tables/mapping.js';
import type { LeftOut } from './left-out.js';
import type { FileEntry } from './manifest.js';
import type { FindOptions } from './reading/messages.js';
import type { ReadingEnd, ReadingThread } from './reading/reading-thread.js';
import type { FolderRecord } from './records-writer.js';

/** A file of the folder, or why it cannot be read. */
export interface ScannedFile<Known extends KnownFile = FileEntry> {
  path: string;
  stamp: string;
  mtime: number;
  bytes: number;
  problem: string | undefined;
  /** Its entry of the last run, if it is unchanged. */
  known: Known | undefined;
}

/** Takes the records of files. */
export interface RecordSink {
  /** Begins the records of a file and returns where they begin. */
  begin(): number;
  /** Where the records so far end. */
  readonly end: number;
  /** Returns false for a record that is left out. */
  add(record: FolderRecord): Promise<boolean>;
}

/** What is remembered of a file: whether it has changed since. */
export type KnownFile = Pick<FileEntry, 'stamp' | 'retry'>;

/**
 * Finds the files of a folder and compares them with the last run. `leftOut`: files of kinds that are not read. `folders`: ids of those
 * that were looked into, by path, the folder itself as "".
 */
export async function scan<Known extends KnownFile>(
  thread: ReadingThread,
  folder: string,
  options: FindOptions,
  last: ReadonlyMap<string, Known>,
): Promise<{ files: ScannedFile<Known>[]; folders: Map<string, string>; leftOut: LeftOut[] }> {
  const files: ScannedFile<Known>[] = [];
  const folders = new Map<string, string>();
  const others = new Map<string, number>();
  for await (const found of thread.find(folder, options)) {
    const { path } = found;
    if ('isFolder' in found) folders.set(path, found.id);
    else if ('leftOut' in found) others.set(found.leftOut, (others.get(found.leftOut) ?? 0) + 1);
    else if ('problem' in found)
      files.push({ path, stamp: '', mtime: 0, bytes: 0, problem: found.problem, known: undefined });
    else {
      const { stamp, mtime, bytes } = found;
      const entry = last.get(path);
      const isKnown = entry?.stamp === stamp && !stamp.endsWith(':fresh') && entry.retry === undefined;
      files.push({ path, stamp, mtime, bytes, problem: undefined, known: isKnown ? entry : undefined });
    }
  }
  const leftOut = [...others].map(([ending, count]): LeftOut => {
    const flag = flagThatReads(ending);
    return { ending, files: count, ...(flag !== undefined && { flag }) };
  });
  return {
    files,
    folders,
    leftOut: leftOut.sort((a, b) => b.files - a.files || (a.ending < b.ending ? -1 : 1)),
  };
}

export interface ReadingOptions {
  folder: string;
  thread: ReadingThread;
  mapping: TableMapping | undefined;
  chunking: ChunkOptions;
  fits: Fits;
  signal: AbortSignal | undefined;
}

const forgottenReason = 'its text was forgotten; --forgotten indexes it again';

/** Reads a file and writes its records. @throws the signal's reason, system errors of the writer */
export async function readRecords(
  file: Pick<ScannedFile, 'path' | 'stamp' | 'mtime' | 'bytes'>,
  writer: RecordSink,
  { folder, thread, mapping, chunking, fits, signal }: ReadingOptions,
): Promise<FileEntry> {
  const begin = writer.begin();
  const problems: string[] = [];
  let records = 0;
  let forgotten = 0;
  let isForgotten = false;
  let missing: string | undefined;
  try {
    const { path, bytes } = file;
    const cuts = thread.read({ path: join(folder, path), bytes, mapping, chunking });
    const ended = { problems, missing: undefined as string | undefined };
    for await (const chunk of fittingChunks(withResult(cuts, ended), fits)) {
      signal?.throwIfAborted();
      if (await writer.add(recordOf(file, chunk))) records++;
      else forgotten++;
    }
    missing = ended.missing;
    if (records === 0 && problems.length === 0) {
      isForgotten = forgotten > 0;
      problems.push(isForgotten ? forgottenReason : noTextReason(path));
    }
  } catch (error) {
    if (!(error instanceof UnreadableDocument)) throw error;
    missing = error.missing;
    problems.push(records === 0 ? error.message : `the rest is not indexed: ${error.message}`);
  }
  const end = records === 0 ? begin : writer.end;
  return {
    path: file.path,
    stamp: file.stamp,
    begin,
    end,
    records,
    ...(problems.length > 0 && { problems }),
    ...(isForgotten && { forgotten: true }),
    ...(missing !== undefined && { retry: true }),
  };
}

/** Yields the cuts, and adds what they return. */
async function* withResult(
  cuts: AsyncGenerator<Cut, ReadingEnd>,
  ended: { problems: string[]; missing: string | undefined },
): AsyncGenerator<Cut> {
  const { problems, missing } = yield* cuts;
  ended.problems.push(...problems);
  ended.missing = missing;
}

function recordOf(
  { path, mtime }: Pick<ScannedFile, 'path' | 'mtime'>,
  { anchor, text, title, heading, page, metadata }: Chunk,
): FolderRecord {
  const name = idOf(path);
  return {
    id: anchor === '' ? name : anchor.startsWith('~') ? `${name}${anchor}` : `${name}#${anchor}`,
    text,
    metadata: {
      ...metadata,
      path,
      ...(title !== undefined && { title }),
      ...(heading !== undefined && { heading }),
      ...(page !== undefined && { page }),
      mtime,
    },
  };
}

/** Returns a path as the beginning of ids: the marks of anchors and of parts are escaped, so that no two files give one id. */
function idOf(path: string): string {
  if (!/[#%]|~[\d~]*$/.test(path)) return path;
  return path
    .replaceAll('%', '%25')
    .replaceAll('#', '%23')
    .replace(/~([\d~]*)$/, (_, end: string) => `%7E${end.replaceAll('~', '%7E')}`);
}
