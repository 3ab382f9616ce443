import {
  type CountOptions,
  formerRecords,
  type StorageChanges,
  type StoredRecord,
  type UpdateResult,
  type VersionLimits,
} from '../../lib/internal.js';
import { mapInSlices } from '../base/waiting/next-slice.js';
import type { Account } from '../fairness/account.js';
import { inlineStorageBytes } from '../fairness/estimates.js';
import type { Turn } from '../knowledge/embed-in-pieces.js';
import {
  KnowledgeBase,
  type OnForgotten,
  type QuotingHistory,
  type SearchableStorage,
} from '../knowledge/index.js';
import type { AsOf } from '../protocol/as-of.js';
import { fail } from '../protocol/errors.js';
import type { StoredWireRecord } from '../protocol/records.js';
import { changeError } from './change-error.js';
import { inlineStorageOf } from './inline-storage.js';
import { isMemory } from './memories/owned.js';
import { noteTexts, recordsBytes, sizesOf } from './result-bytes.js';
import type { DeclaredStorage } from './session-folders.js';
import { diskOf } from './storage-disk.js';
import { wireMetadata } from './wire.js';
import { searchError } from './wire-errors.js';

export type { OnForgotten } from '../knowledge/index.js';

/** Which storages clients may change. */
export type StorageWrites = 'none' | 'own' | 'files';

/** What the operator allows. `anyFolder`: sessions may use any folder. */
export interface WriteRules {
  readonly writes: StorageWrites;
  readonly anyFolder: boolean;
  /** Whether knowledge bases are opened without writing. */
  readonly readOnly: boolean;
}

/** Returns why clients may not change a storage; undefined if they may. `declared`: as the operator's config names it, if it does. */
export function writeRefusal(
  kind: 'inline' | 'knowledge base',
  { writes, anyFolder, readOnly }: WriteRules,
  declared?: Pick<DeclaredStorage, 'writable'>,
): string | undefined {
  if (writes === 'none') return 'clients may change no storage (storage_writes is "none")';
  if (kind === 'inline') return undefined;
  if (declared?.writable === false)
    return 'the storage is read-only; only "writable" of http.storages opens it to changes';
  if (writes !== 'files')
    return `clients may change inline storages alone (storage_writes is ${JSON.stringify(writes)})`;
  if (readOnly) return 'clients may change no knowledge base while read_only_storages is true';
  // The operator has named the file: no client chose it.
  if (anyFolder && declared === undefined)
    return 'clients may change no knowledge base while session_folders is "any"; a list of folders is needed';
  return undefined;
}

/** @throws StorageNotWritable */
export function checkWritable(
  storage: SearchableStorage,
  rules: WriteRules,
  declared?: Pick<DeclaredStorage, 'writable'>,
): void {
  // A memory is its session's own, wherever it is kept.
  const kind = storage instanceof KnowledgeBase && !isMemory(storage) ? 'knowledge base' : 'inline';
  const refusal = writeRefusal(kind, rules, declared);
  if (refusal !== undefined) fail(8012, `name: ${refusal}`, { path: 'name', storage_writes: rules.writes });
}

/**
 * Applies a batch in the client's share: its embedding in turns to build, its memory on the client's budget. A knowledge base
 * keeps `versions` from then on.
 * @throws RecordExists, RecordNotFound, DuplicateRecordId, VersionMismatch, InvalidEmbeddedStringStorageData, ...
 */
export async function applyChanges(
  storage: SearchableStorage,
  changes: StorageChanges,
  { account, versions, signal }: { account: Account; versions: VersionLimits; signal: AbortSignal },
): Promise<UpdateResult> {
  const own = inlineStorageOf(storage);
  if (own === undefined) storage.storage.keepVersions(versions);
  const records = [...(changes.add ?? []), ...(changes.replace ?? [])];
  const turn: Turn = (work) => account.compute('build', signal, work);
  const apply = async () => {
    const sizes = await sizesOf(records as { id: string; text: string }[], signal);
    const disk = diskOf(storage);
    if (disk === undefined) return update(sizes);
    // Removing makes room.
    const bytes = records.length > 0 ? changeBytes(records.length, sizes.all, storage.dimension) : 0;
    const letGo = bytes > 0 ? await disk.take(account.memory, bytes) : () => {};
    try {
      return await update(sizes).finally(() => disk.measure());
    } finally {
      letGo();
    }
  };
  const update = async (sizes: Awaited<ReturnType<typeof sizesOf>>) => {
    own?.memory.add(
      inlineStorageBytes(records.length, sizes.all, storage.dimension),
      'the batch was not applied',
    );
    try {
      const result = await storage.update(changes, { signal, turn });
      if (own !== undefined) noteTexts(storage, own.grown(sizes));
      return result;
    } catch (error) {
      throw changeError(error, changes.add?.length);
    } finally {
      own?.settle();
    }
  };
  return own === undefined ? apply() : own.inOrder(apply);
}

/** Returns about as many bytes as a batch takes in a change log: records as JSON, and their vectors. */
const changeBytes = (records: number, textBytes: number, dimension: number) =>
  textBytes + records * (256 + 4 * dimension);

/** The result of forgetting, with the client's histories that quote the records. */
export interface ForgottenRecords extends UpdateResult {
  readonly histories: readonly QuotingHistory[];
}

/** What a client asks for when it forgets. */
export interface ForgetWork {
  readonly account: Account;
  readonly signal: AbortSignal;
  /** Told of the texts, so that nothing else keeps them. */
  readonly onForgotten: OnForgotten;
  /** Whether turns that quote them are removed. */
  readonly histories: boolean;
}

/** Removes records for good, in the client's turn to build. @throws RecordNotFound, DuplicateRecordId */
export async function forgetRecords(
  storage: SearchableStorage,
  ids: readonly string[],
  { account, signal, onForgotten, histories }: ForgetWork,
): Promise<ForgottenRecords> {
  const own = inlineStorageOf(storage);
  const forget = async () => {
    const end = await account.enter('build', signal);
    try {
      const present = await storage.storage.getMany(ids, { signal });
      const former = await formerRecords(storage.storage, ids, signal);
      const texts = [...present, ...former].map(({ text }) => text);
      const result = await storage.forget(ids, { signal });
      // Those of a knowledge base are also those that its files had.
      return { texts: 'texts' in result ? (result.texts as string[]) : texts, result };
    } catch (error) {
      throw changeError(error);
    } finally {
      end();
      own?.settle();
      await diskOf(storage)?.measure();
    }
  };
  const tooLong = 'the texts of the records may be too long: forget fewer at once';
  const bytes = recordsBytes(storage, ids.length);
  const release = await account.memory.reserve('results', bytes, tooLong, signal);
  try {
    const { texts, result } = await (own === undefined ? forget() : own.inOrder(forget));
    return { ...result, histories: await onForgotten({ ids, texts, histories }) };
  } finally {
    release();
  }
}

/** Returns a storage as it is at a version, the newest by default. Release it. @throws VersionGone */
export function atVersion(
  storage: SearchableStorage,
  asOf: AsOf | undefined,
): { storage: SearchableStorage; release(): Promise<void> } {
  const version = typeof asOf === 'string' ? versionAt(storage, asOf) : asOf;
  try {
    const view = storage.at(version ?? storage.version);
    return { storage: view, release: () => view.close() };
  } catch (error) {
    throw changeError(error);
  }
}

/** The newest version whose time is not later: versions of a clock that ran ahead hide none that were made after it was set back. @throws VersionGone */
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

const listPlaces = {
  storage: { where: 'name', value: '' },
  text: 'filter',
  fields: '',
  invalid: 1004,
} as const;

/** A page of the records that match a filter. @throws InvalidField */
export async function listRecords(
  storage: SearchableStorage,
  { offset, limit, ...which }: CountOptions & { offset: number; limit: number },
  signal: AbortSignal,
): Promise<{ version: number; total: number; records: StoredWireRecord[] }> {
  try {
    const total = await storage.count({ ...which, signal });
    const found = offset >= total ? [] : await storage.list({ ...which, offset, limit, signal });
    return { version: storage.version, total, records: await mapInSlices(found, wireRecord) };
  } catch (error) {
    throw searchError(error, listPlaces);
  }
}

const wireRecord = ({ id, text, metadata }: StoredRecord): StoredWireRecord => ({
  id,
  text,
  ...(metadata && { metadata: wireMetadata(metadata) }),
});
