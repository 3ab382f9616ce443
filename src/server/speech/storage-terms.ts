import type { Account } from '../../fairness/account.js';
import type { SearchableStorage } from '../../knowledge/index.js';
import { recordsBytes } from '../../storages/result-bytes.js';
import type { StoragePin } from '../../storages/storage-set.js';

/** Fields whose values are names: a recogniser expects them. */
const nameFields: readonly string[] = ['title', 'heading', 'name'];

/** More than any recogniser has room for: each takes two of its 128 tokens or more. */
const mostTerms = 64;

/** Longer values are sentences. */
const longestTerm = 80;

/** Records of each storage that are read, and how many at once. */
const mostRecords = 2048;
const recordsAtOnce = 32;

/**
 * Returns names of the records of storages, each once, in the order of the records. Reads once the client reads and there is memory
 * for the records. @throws the signal's reason; ClientMemoryExceeded, ServerMemoryExceeded
 */
export async function storageTerms(
  pins: readonly StoragePin[],
  account: Account,
  signal: AbortSignal,
): Promise<string[]> {
  const terms = new Set<string>();
  for (const { value } of pins) {
    if (namesOf(value).length > 0) await addTerms(terms, value, account, signal);
  }
  return [...terms];
}

const namesOf = ({ storage }: SearchableStorage): string[] =>
  nameFields.filter((name) =>
    storage.fields?.some((field) => field.name === name && field.type === 'string'),
  );

async function addTerms(
  terms: Set<string>,
  from: SearchableStorage,
  account: Account,
  signal: AbortSignal,
): Promise<void> {
  const names = namesOf(from);
  const storage = from.storage.pin();
  try {
    for (let offset = 0; offset < Math.min(mostRecords, storage.size); offset += recordsAtOnce) {
      await account.read(signal);
      const what = 'the names in the storages of the agent were not read: give `terms`';
      const bytes = recordsBytes(from, recordsAtOnce);
      const giveBack = await account.memory.reserve('results', bytes, what, signal);
      try {
        for (const { metadata } of await storage.list({ offset, limit: recordsAtOnce, signal })) {
          for (const name of names) {
            const term = metadata?.[name];
            if (terms.size === mostTerms) return;
            if (typeof term === 'string' && term !== '' && term.length <= longestTerm) terms.add(term);
          }
        }
      } finally {
        giveBack();
      }
    }
  } finally {
    storage.release();
  }
}
