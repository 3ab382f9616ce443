/** Converts a batch of changes to the addon's buffers. */
import { booleanArgument, integerArgument, refuse, vectorsArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import type { NativeCancelToken, NativeStorage, NativeUpdateResult } from '../boundary/native.js';
import { describe, fillMetadata, toArena, toRows } from '../boundary/native-call.js';
import type { StorageChanges } from './storage-changes.js';
import type { StorageRecord } from './storage-record.js';

const known: ReadonlySet<string> = new Set<keyof StorageChanges>([
  'add',
  'replace',
  'remove',
  'upsert',
  'ifVersion',
]);

function list<T>(name: 'add' | 'replace' | 'remove', value: readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) refuse(name, `an array is expected, not ${describe(value)}`);
  return value;
}

/** Applies a batch that was converted. */
export type ConvertedBatch = (cancel: NativeCancelToken | undefined) => Promise<NativeUpdateResult>;

/**
 * Checks a batch and converts it without blocking the event loop.
 * @throws INVALID_ARGUMENT, DIMENSION_MISMATCH, CANCELLED
 */
export async function storageBatch(
  native: NativeStorage,
  changes: StorageChanges,
  vectors: Float32Array | undefined,
  signal: AbortSignal | undefined,
): Promise<ConvertedBatch> {
  if (typeof changes !== 'object' || changes === null) refuse('changes', 'an object is expected');
  const unknown = Object.keys(changes).find((name) => !known.has(name));
  if (unknown !== undefined) refuse(unknown, 'is not a part of a batch');
  const added = list('add', changes.add);
  const records: readonly StorageRecord[] = [...added, ...list('replace', changes.replace)];
  const removed = list('remove', changes.remove);
  const upsert = booleanArgument('upsert', changes.upsert, false);
  const ifVersion =
    changes.ifVersion === undefined
      ? undefined
      : integerArgument('ifVersion', changes.ifVersion, 0, 0, Number.MAX_SAFE_INTEGER);
  const numbers = vectorsArgument('vectors', vectors ?? new Float32Array(0), native.dimension);
  const ids = records.map((record) => record?.id);
  const idArena = await toArena(ids, 'records.id', signal);
  const texts = await toArena(
    records.map((record) => record?.text),
    'records.text',
    signal,
  );
  const rows = await toRows(numbers, signal);
  const metadata = native.fields === undefined ? undefined : new binding.MetadataBuffer(native);
  if (metadata !== undefined) {
    const values = records.map((record) => record.metadata);
    await fillMetadata(metadata, ids, values, native.fields ?? [], signal);
  }
  const gone = await toArena(removed, 'remove', signal);
  return (cancel) =>
    native.update(idArena, texts, rows, metadata, gone, added.length, upsert, ifVersion, cancel);
}
