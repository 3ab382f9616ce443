import type { CallOptions } from '../boundary/native-call.js';
import type { StorageVersion } from './storage-changes.js';

/** Ids that one call looks for. */
export const idsPerCall = 10_000;

/** What is read of an older version. */
export interface OlderVersion {
  getMany(ids: readonly string[], options: CallOptions): Promise<{ id: string; text: string }[]>;
  close(): Promise<void>;
}

/** Returns the records that the older versions of a storage have under these ids, each text once. @throws as Storage.getMany() */
export async function formerRecords(
  storage: { versions(): StorageVersion[]; at(version: number): OlderVersion },
  ids: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ id: string; text: string }[]> {
  const found = new Map<string, { id: string; text: string }>();
  for (const { version } of storage.versions().slice(0, -1)) {
    const former = storage.at(version);
    try {
      for (let begin = 0; begin < ids.length; begin += idsPerCall) {
        const some = ids.slice(begin, begin + idsPerCall);
        for (const { id, text } of await former.getMany(some, { signal }))
          found.set(JSON.stringify([id, text]), { id, text });
      }
    } finally {
      await former.close();
    }
  }
  return [...found.values()];
}
