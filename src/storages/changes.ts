import type { CountOptions, StorageChanges, StoredRecord, UpdateResult } from '../../lib/internal.js';
import { mapInSlices } from '../base/waiting/next-slice.js';
import type { Account } from '../fairness/account.js';
import { inlineStorageBytes } from '../fairness/estimates.js';
import { KnowledgeBase, type SearchableStorage } from '../knowledge/index.js';
import { fail } from '../protocol/errors.js';
import type { StoredWireRecord } from '../protocol/records.js';
import { changeError } from './change-error.js';
import { inlineStorageOf } from './inline-storage.js';
import { noteTexts, sizesOf } from './result-bytes.js';
import { wireMetadata } from './wire.js';

/** Which storages clients may change. */
export type StorageWrites = 'none' | 'own' | 'files';

/** What the operator allows. `anyFolder`: sessions may use any folder. */
export interface WriteRules {
  readonly writes: StorageWrites;
  readonly anyFolder: boolean;
  /** Whether knowledge bases are opened without writing. */
  readonly readOnly: boolean;
  /** Whether the operator's config gives the storage its name. Default: no. */
  readonly isDeclared?: boolean;
}

/** @throws StorageNotWritable */
export function checkWritable(
  storage: SearchableStorage,
  { writes, anyFolder, readOnly, isDeclared = false }: WriteRules,
): void {
  const refuse = (reason: string): never =>
    fail(8012, `name: ${reason}`, { path: 'name', storage_writes: writes });
  if (writes === 'none') refuse('clients may change no storage (storage_writes is "none")');
  if (!(storage instanceof KnowledgeBase)) return;
  if (isDeclared) refuse('the storages of http.storages are read-only');
  if (writes !== 'files')
    refuse(`clients may change inline storages alone (storage_writes is ${JSON.stringify(writes)})`);
  if (readOnly) refuse('clients may change no knowledge base while read_only_storages is true');
  if (anyFolder)
    refuse(
      'clients may change no knowledge base while session_folders is "any"; a list of folders is needed',
    );
}

/**
 * Applies a batch in the client's share: its embedding in turns to build, its memory on the client's budget.
 * @throws RecordExists, RecordNotFound, DuplicateRecordId, VersionMismatch, InvalidEmbeddedStringStorageData, ...
 */
export async function applyChanges(
  storage: SearchableStorage,
  changes: StorageChanges,
  account: Account,
  signal: AbortSignal,
): Promise<UpdateResult> {
  const own = inlineStorageOf(storage);
  const records = [...(changes.add ?? []), ...(changes.replace ?? [])];
  const turn = () => account.enter('build', signal);
  const apply = async () => {
    const sizes = await sizesOf(records as { id: string; text: string }[], signal);
    own?.memory.add(
      inlineStorageBytes(records.length, sizes.all, storage.dimension),
      'the batch was not applied',
    );
    try {
      const result = await storage.update(changes, { signal, turn });
      if (own !== undefined) noteTexts(storage, own.grown(sizes));
      return result;
    } catch (error) {
      throw changeError(error);
    } finally {
      own?.settle();
    }
  };
  return own === undefined ? apply() : own.inOrder(apply);
}

/** Removes records for good, in the client's turn to build. @throws RecordNotFound, DuplicateRecordId */
export async function forgetRecords(
  storage: SearchableStorage,
  ids: readonly string[],
  account: Account,
  signal: AbortSignal,
): Promise<UpdateResult> {
  const own = inlineStorageOf(storage);
  const forget = async () => {
    const end = await account.enter('build', signal);
    try {
      return await storage.forget(ids, { signal });
    } catch (error) {
      throw changeError(error);
    } finally {
      end();
      own?.settle();
    }
  };
  return own === undefined ? forget() : own.inOrder(forget);
}

/** Returns a storage as it is at a version, the newest by default. Release it. @throws VersionGone */
export function atVersion(
  storage: SearchableStorage,
  asOf: number | string | undefined,
): { storage: SearchableStorage; release(): Promise<void> } {
  const version = typeof asOf === 'string' ? versionAt(storage, asOf) : asOf;
  try {
    const view = storage.at(version ?? storage.version);
    return { storage: view, release: () => view.close() };
  } catch (error) {
    throw changeError(error);
  }
}

/** The newest version that existed at a time. @throws VersionGone */
function versionAt(storage: SearchableStorage, time: string): number {
  const versions = storage.storage.versions();
  const at = Date.parse(time);
  const found = versions.findLast((one) => one.time <= at);
  if (found !== undefined) return found.version;
  const first = new Date(versions[0]?.time ?? 0).toISOString();
  return fail(8011, `as_of: the oldest version that is kept is of ${first}`, { path: 'as_of' });
}

/** Records with these ids, and the ids without one. */
export async function getRecords(
  storage: SearchableStorage,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<{ version: number; records: StoredWireRecord[]; missing: string[] }> {
  const found = await storage.storage.getMany(ids, { signal });
  const known = new Set(found.map(({ id }) => id));
  const missing = ids.filter((id) => !known.has(id));
  return { version: storage.version, records: await mapInSlices(found, wireRecord), missing };
}

/** A page of the records that match a filter. */
export async function listRecords(
  storage: SearchableStorage,
  { offset, limit, ...which }: CountOptions & { offset: number; limit: number },
  signal: AbortSignal,
): Promise<{ version: number; total: number; records: StoredWireRecord[] }> {
  const total = await storage.count({ ...which, signal });
  const found = offset >= total ? [] : await storage.list({ ...which, offset, limit, signal });
  return { version: storage.version, total, records: await mapInSlices(found, wireRecord) };
}

const wireRecord = ({ id, text, metadata }: StoredRecord): StoredWireRecord => ({
  id,
  text,
  ...(metadata && { metadata: wireMetadata(metadata) }),
});
