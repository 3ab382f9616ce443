import { type LoggedChanges, LorekeepError, type Storage } from '../../../lib/internal.js';
import { listed } from '../../base/schema/messages.js';
import type { LogSource } from './base-log.js';
import { readPendingForget } from './pending-forget.js';

const recordKey = ({ id, text }: { id: string; text: string }) => JSON.stringify([id, text]);

/** Ids that one call looks for. */
const idsPerCall = 10_000;

/**
 * Refuses changes that contradict a records file that was replaced from outside: a changed record that the file has with another
 * text, or a removed one that it has, unless it is being forgotten. Changes of other records are kept. @throws INVALID_ARGUMENT
 */
export async function refuseConflicts(
  storage: Storage,
  changes: LoggedChanges,
  source: LogSource,
): Promise<void> {
  const { changed, removed } = changes.ids();
  const conflicts: string[] = [];
  const pending = await readPendingForget(source.files.changes);
  const forgetting = new Set(pending?.records.map(recordKey));
  for (let begin = 0; begin < changed.length; begin += idsPerCall) {
    const texts = new Map(changed.slice(begin, begin + idsPerCall).map(({ id, text }) => [id, text]));
    for (const { id, text } of await storage.getMany([...texts.keys()])) {
      if (text !== texts.get(id)) conflicts.push(id);
    }
  }
  for (let begin = 0; begin < removed.length; begin += idsPerCall) {
    for (const record of await storage.getMany(removed.slice(begin, begin + idsPerCall)))
      if (!forgetting.has(recordKey(record))) conflicts.push(record.id);
  }
  if (conflicts.length === 0) return;
  const { files } = source;
  throw LorekeepError.about('INVALID_ARGUMENT', {
    file: files.changes,
    issues: [
      'the records file was replaced while these records have changes that are not merged:',
      ...listed(conflicts, (id) => JSON.stringify(id)),
    ],
    remedy: 'put the former records file back and merge, or move this file away to drop its changes',
    mistakes: conflicts.length,
  });
}
