import { Records } from '../../lib/internal.js';
import { withIndexRemedy } from './index-error.js';
import type { Source } from './resolve.js';

/**
 * The records that the index file carries, as long as they match the records file; else the records file is read,
 * and the log says why. @throws as openKnowledgeBase() for records, and for an index file that is absent or damaged
 */
export async function openRecords({ buildCommand, config, files, log, signal }: Source): Promise<Records> {
  const { fields } = config;
  if (files.index !== undefined) {
    const { index, records } = files;
    const found = await withIndexRemedy(index, buildCommand, () =>
      Records.fromIndexFile(index, records, { fields, signal }),
    );
    if (found instanceof Records) return found;
    log.info({ file: index, records, reason: found.reason }, 'records file read');
  }
  return Records.read(files.records, { fields, signal });
}
