import { Records } from '../../lib/index.js';
import type { Source } from './source.js';

/**
 * The records that the index file carries, as long as they are those of the records file; else the records file is read,
 * and the log says why. @throws as openKnowledgeBase() for records, and for an index file that is absent or damaged
 */
export async function openRecords({ config, files, log, signal }: Source): Promise<Records> {
  const { fields } = config;
  if (files.index !== undefined) {
    const found = await Records.fromIndexFile(files.index, files.records, { fields, signal });
    if (found instanceof Records) return found;
    log.info({ file: files.index, records: files.records, reason: found.reason }, 'records file read');
  }
  return Records.read(files.records, { fields, signal });
}
