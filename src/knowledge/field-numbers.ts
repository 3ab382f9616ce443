import type { StorageRecord } from '../../lib/internal.js';
import { wideIntegerOf } from '../base/schema/wide-integers.js';
import { mapInSlices } from '../base/waiting/next-slice.js';

type Field = { readonly name: string; readonly type: string; readonly format?: string | undefined };

/** Records between two looks at the clock. */
const recordsAtOnce = 256;

/**
 * Returns the records of a client with the numbers of their fields: integers that it wrote as decimal texts, as hits show those beyond
 * 2^53; the exact value of each larger Number of an `int` field, which JSON would round; the nearest double of each BigInt of a `float`
 * field. Other values are left to the check of the fields.
 */
export async function withFieldNumbers<Some extends StorageRecord>(
  records: readonly Some[],
  fields: readonly Field[] | undefined,
): Promise<readonly Some[]> {
  const numeric = fields?.filter(({ type }) => type === 'float' || type === 'int') ?? [];
  if (numeric.length === 0) return records;
  return mapInSlices(records, (record) => withNumbers(record, numeric), recordsAtOnce);
}

function withNumbers<Some extends StorageRecord>(record: Some, fields: readonly Field[]): Some {
  const metadata = record?.metadata as Readonly<Record<string, unknown>> | undefined;
  if (typeof metadata !== 'object' || metadata === null) return record;
  const written = fields.flatMap((field) => {
    const { name, type } = field;
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    const number = type === 'float' ? doubleOf(value) : integerOf(value, field);
    return number === undefined ? [] : [[name, number] as const];
  });
  if (written.length === 0) return record;
  return { ...record, metadata: { ...metadata, ...Object.fromEntries(written) } } as Some;
}

function integerOf(value: unknown, { format }: Field): bigint | undefined {
  if (typeof value === 'string') return format === undefined ? wideIntegerOf(value) : undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}

const doubleOf = (value: unknown) => (typeof value === 'bigint' ? Number(value) : undefined);
