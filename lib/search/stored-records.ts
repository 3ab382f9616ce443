/** Reads records of a storage without a search. */
import { integerArgument } from '../boundary/arguments.js';
import { LorekeepError } from '../boundary/errors.js';
import type { NativeCancelToken, NativeField, NativeStorage } from '../boundary/native.js';
import { type CallOptions, describe } from '../boundary/native-call.js';
import { type NextSlice, Slices } from '../boundary/slices.js';
import type { Filter, FilterExpression, Metadata } from './filter.js';
import { convertResult } from './storage-hits.js';

/** A record of a storage. */
export interface StoredRecord<Own = Metadata> {
  /** Position in the storage. */
  ordinal: number;
  /** Unique within the storage. */
  id: string;
  /** The record's text. */
  text: string;
  /** Values of the record's fields, defaults included; absent if the storage has no fields. */
  metadata?: Own;
}

export interface CountOptions extends CallOptions {
  /** Counts matching records only. */
  filter?: Filter | FilterExpression | undefined;
  /** Values of the filter's variables, by name. */
  variables?: Readonly<Record<string, unknown>> | undefined;
}

export interface ListOptions extends CountOptions {
  /** Number of records to skip. Default 0. */
  offset?: number | undefined;
  /** Maximum number of records to return, 1 to 10,000. Default 100. */
  limit?: number | undefined;
}

/** Maximum number of ids of one call, and of records of one list. */
const maxRecords = 10_000;

/** Returns the range that a list asks for. @throws INVALID_ARGUMENT */
export function listRange({ offset, limit }: ListOptions): { begin: number; limit: number } {
  return {
    begin: integerArgument('offset', offset, 0, 0, 2 ** 32 - 1),
    limit: integerArgument('limit', limit, 100, 1, maxRecords),
  };
}

/** Checks ids. @throws INVALID_ARGUMENT */
export function idsArgument(ids: readonly string[]): readonly string[] {
  const wrong = Array.isArray(ids) ? ids.find((id) => typeof id !== 'string') : ids;
  if (Array.isArray(ids) && wrong === undefined && ids.length <= maxRecords) return ids;
  const reason = Array.isArray(ids) && wrong === undefined ? `at most ${maxRecords} ids` : 'strings';
  throw LorekeepError.about('INVALID_ARGUMENT', {
    field: 'id',
    reason: `${reason} are expected${wrong === undefined ? '' : `, not ${describe(wrong)}`}`,
  });
}

/** Reads records by their ordinals, in the order given. */
export async function readRecords(
  native: NativeStorage,
  ordinals: Uint32Array,
  fields: readonly NativeField[] | undefined,
  { signal, nextSlice }: { signal?: AbortSignal | undefined; nextSlice: NextSlice },
): Promise<StoredRecord[]> {
  if (ordinals.length === 0) return [];
  const { hits } = await convertResult(...native.records(ordinals), {
    mode: 'dense',
    fields,
    signal,
    nextSlice,
  });
  const records: StoredRecord[] = [];
  await new Slices(nextSlice, signal).each(hits, ({ ordinal, id, text, metadata }) =>
    records.push(metadata === undefined ? { ordinal, id, text } : { ordinal, id, text, metadata }),
  );
  return records;
}

/** Returns the ordinals of ids; unknown ids are absent from the result. */
export async function findOrdinals(
  native: NativeStorage,
  ids: readonly string[],
  cancel: NativeCancelToken | undefined,
): Promise<Uint32Array> {
  const found = await native.find(idsArgument(ids), cancel);
  return Uint32Array.from(found.filter((ordinal) => ordinal >= 0));
}
