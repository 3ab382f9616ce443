import { join } from 'node:path';
import { type Chunk, type ChunkOptions, chunksOf, type Fits } from '../../documents/chunks.js';
import { UnreadableDocument } from '../../documents/document.js';
import { openReason } from '../../documents/files/read-file.js';
import { type WalkOptions, walk } from '../../documents/files/walk.js';
import { noTextReason } from '../../documents/formats/formats.js';
import type { DocumentReader } from '../../documents/reader.js';
import { type FileEntry, stampOf } from './manifest.js';
import type { RecordsWriter } from './records-writer.js';

/** A file of the folder, or why it cannot be read. */
export interface ScannedFile {
  path: string;
  stamp: string;
  mtime: number;
  problem: string | undefined;
  /** Its entry of the last run, if it is unchanged. */
  known: FileEntry | undefined;
}

/** Finds the files of a folder and compares them with the last run. */
export async function scan(
  folder: string,
  options: WalkOptions,
  last: ReadonlyMap<string, FileEntry>,
): Promise<ScannedFile[]> {
  const files: ScannedFile[] = [];
  for await (const found of walk(folder, options)) {
    const { path } = found;
    if ('problem' in found) {
      files.push({ path, stamp: '', mtime: 0, problem: found.problem, known: undefined });
      continue;
    }
    const state = await stampOf(join(folder, path)).catch((error: NodeJS.ErrnoException) => error);
    if (state instanceof Error) {
      const problem = openReason(state);
      files.push({ path, stamp: '', mtime: 0, problem, known: undefined });
      continue;
    }
    // A file that was changed just now is read again next time.
    const stamp = state.isFresh ? `${state.stamp}:fresh` : state.stamp;
    const entry = last.get(path);
    const known = entry?.stamp === stamp && !state.isFresh && entry.retry === undefined ? entry : undefined;
    files.push({ path, stamp, mtime: state.mtime, problem: undefined, known });
  }
  return files;
}

export interface ReadingOptions {
  folder: string;
  reader: DocumentReader;
  chunking: ChunkOptions;
  fits: Fits;
  signal: AbortSignal | undefined;
}

/** Reads a file and writes its records. @throws the signal's reason, system errors of the writer */
export async function readRecords(
  file: ScannedFile,
  writer: RecordsWriter,
  { folder, reader, chunking, fits, signal }: ReadingOptions,
): Promise<FileEntry> {
  const begin = writer.begin();
  const problems: string[] = [];
  let records = 0;
  let missing: string | undefined;
  try {
    await reader.read(
      join(folder, file.path),
      async (document) => {
        for await (const chunk of chunksOf(document, chunking, fits)) {
          signal?.throwIfAborted();
          await writer.add(recordOf(file, chunk));
          records++;
        }
        problems.push(...(document.problems ?? []));
      },
      signal,
    );
    if (records === 0 && problems.length === 0) problems.push(noTextReason(file.path));
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
    ...(missing !== undefined && { retry: true }),
  };
}

function recordOf(
  { path, mtime }: ScannedFile,
  { anchor, text, title, heading, page, metadata }: Chunk,
): object {
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
  return path.replaceAll('%', '%25').replaceAll('#', '%23').replace(/~([\d~]*)$/, (_, end: string) => `%7E${end.replaceAll('~', '%7E')}`);
}
