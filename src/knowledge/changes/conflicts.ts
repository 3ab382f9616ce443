import { type LoggedChanges, LorekeepError, type Storage } from '../../../lib/internal.js';
import { listed } from '../../base/schema/messages.js';
import type { LogSource } from './base-log.js';

/** Ids that one call looks for. */
const idsPerCall = 10_000;

/**
 * Refuses changes that contradict a records file that was replaced from outside: a changed record that the file has with another
 * text, or a removed one that it has. Changes of other records are kept. @throws INVALID_ARGUMENT
 */
export async function refuseConflicts(
  storage: Storage,
  changes: LoggedChanges,
  source: LogSource,
): Promise<void> {
  const { changed, removed } = changes.ids();
  const conflicts: string[] = [];
  for (let begin = 0; begin < changed.length; begin += idsPerCall) {
    const texts = new Map(changed.slice(begin, begin + idsPerCall).map(({ id, text }) => [id, text]));
    for (const { id, text } of await storage.getMany([...texts.keys()])) {
      if (text !== texts.get(id)) conflicts.push(id);
    }
  }
  for (let begin = 0; begin < removed.length; begin += idsPerCall) {
    conflicts.push(...(await storage.known(removed.slice(begin, begin + idsPerCall))));
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
