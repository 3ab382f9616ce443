import { type FileContent, inspectFile, Records } from '../../lib/internal.js';
import { withIndexRemedy } from './index-error.js';
import type { Source } from './resolve.js';

/** `fromIndex`: the index file carried the records, so it was made from the current records file. */
interface OpenedRecords {
  records: Records;
  fromIndex: boolean;
}

/**
 * The records that the index file carries, as long as they match the records file; else the records file is read,
 * and the log says why. @throws as openKnowledgeBase() for records, and for an index file that is absent or damaged
 */
export async function openRecords(source: Source): Promise<OpenedRecords> {
  const { buildCommand, config, files, log, signal } = source;
  const { fields } = config;
  if (files.index !== undefined) {
    const { index, records } = files;
    const found = await withIndexRemedy(index, buildCommand, () =>
      Records.fromIndexFile(index, records, { fields, signal }),
    );
    if (found instanceof Records) return { records: found, fromIndex: true };
    log.info({ file: index, records, reason: found.reason }, 'records file read');
  }
  return { records: await Records.read(files.records, { fields, signal }), fromIndex: false };
}

/** The records file that the index was made from; undefined if there is no index that says it. */
export async function indexedContent({
  files,
  signal,
}: Pick<Source, 'files' | 'signal'>): Promise<FileContent | undefined> {
  if (files.index === undefined) return undefined;
  const found = await inspectFile(files.index, { verify: false, signal }).catch(() => undefined);
  const { recordsFileBytes: size, recordsFileChecksum: checksum } = found ?? {};
  return size === undefined || checksum === undefined ? undefined : { size, checksum };
}
