import type { SessionFields } from './frames.js';

type Fields = SessionFields<'CreateEmbeddedStringStorageRequest'>;
type StorageRecord = NonNullable<Fields['records']>[number];

/** The parts of an update, or of a forgetting, that change which records a storage has. */
export interface StorageChange {
  add?: readonly StorageRecord[] | undefined;
  replace?: readonly StorageRecord[] | undefined;
  remove?: readonly string[] | undefined;
  /** Ids of records that were forgotten. */
  ids?: readonly string[] | undefined;
}

/** Returns the fields that make the storage as the change has left it: what was forgotten does not come back. */
export function changedStorage(fields: Fields, change: StorageChange): Fields {
  if (fields.configPath !== undefined) return fields;
  const { strings = [], records = [], ...rest } = fields;
  const byId = new Map<string, StorageRecord>();
  for (const [index, text] of strings.entries()) byId.set(`${index}`, { id: `${index}`, text });
  for (const record of records) byId.set(record.id, record);
  for (const id of [...(change.remove ?? []), ...(change.ids ?? [])]) byId.delete(id);
  for (const record of [...(change.add ?? []), ...(change.replace ?? [])]) byId.set(record.id, record);
  return { ...rest, records: [...byId.values()] };
}
