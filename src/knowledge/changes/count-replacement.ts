import { stat } from 'node:fs/promises';
import type { FileContent } from '../../../lib/internal.js';
import {
  hasBatches,
  isSame,
  type LogSource,
  lockSoon,
  newHeader,
  readLog,
  versionOfFile,
} from './base-log.js';
import { ChangeLogWriter } from './log-writer.js';

const permissionBits = 0o666;

type CountedSource = Pick<LogSource, 'log' | 'signal' | 'model'> & {
  files: Pick<LogSource['files'], 'records' | 'changes'>;
};

/** Records files that an index was built from. */
interface Replacement {
  /** Undefined if it is not known. */
  former: FileContent | undefined;
  content: FileContent;
}

/**
 * Counts the replacement of a records file as a version of the base, once its files are built from the new one: a log that is about the
 * former file, or none, gives way to one that begins with the next version. A log with batches stays: the next writer adopts it. A
 * failure is a warning. @throws CANCELLED
 */
export async function countReplacement(source: CountedSource, replacement: Replacement): Promise<void> {
  const { files, log, signal } = source;
  try {
    if ((await nextVersion(source, replacement)) === undefined) return;
    const lock = await lockSoon(source, signal);
    try {
      await begin(source, await nextVersion(source, replacement), replacement.content);
    } finally {
      await lock.release();
    }
  } catch (err) {
    if (signal?.aborted) throw err;
    log.warn({ file: files.changes, err }, 'the records file was replaced, and its version is not counted');
  }
}

/** The version that the new records file has; undefined if it is counted, or not to be counted now. */
async function nextVersion(
  source: CountedSource,
  { former, content }: Replacement,
): Promise<number | undefined> {
  await using log = await readLog(source);
  if (log === undefined) return former === undefined || isSame(former, content) ? undefined : 1;
  const { facts } = log;
  const isCounted = versionOfFile(facts, content) !== undefined;
  return isCounted || hasBatches(facts) ? undefined : facts.version + 1;
}

async function begin(
  { files, model }: CountedSource,
  version: number | undefined,
  content: FileContent,
): Promise<void> {
  if (version === undefined) return;
  // Whoever may read the records may read a log that has none.
  const mode = (await stat(files.records)).mode & permissionBits;
  const log = await ChangeLogWriter.create(files.changes, newHeader(model, content, version), { mode });
  await log.close();
}
