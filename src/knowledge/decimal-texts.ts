import type { StorageRecord } from '../../lib/internal.js';
import { wideIntegerOf } from '../base/schema/wide-integers.js';
import { mapInSlices } from '../base/waiting/next-slice.js';

type Field = { readonly name: string; readonly type: string; readonly format?: string | undefined };

/** Records between two looks at the clock. */
const recordsAtOnce = 256;

/**
 * Returns the records of a client with the integers that it wrote as decimal texts, as hits show those beyond 2^53. Other texts are left
 * to the check of the fields.
 */
export async function withDecimalTexts<Some extends StorageRecord>(
  records: readonly Some[],
  fields: readonly Field[] | undefined,
): Promise<readonly Some[]> {
  const names = fields?.filter(({ type, format }) => type === 'int' && format === undefined) ?? [];
  if (names.length === 0) return records;
  return mapInSlices(records, (record) => withIntegers(record, names), recordsAtOnce);
}

function withIntegers<Some extends StorageRecord>(record: Some, fields: readonly Field[]): Some {
  const metadata = record?.metadata as Readonly<Record<string, unknown>> | undefined;
  if (typeof metadata !== 'object' || metadata === null) return record;
  const written = fields.flatMap(({ name }) => {
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    const integer = typeof value === 'string' ? wideIntegerOf(value) : undefined;
    return integer === undefined ? [] : [[name, integer] as const];
  });
  if (written.length === 0) return record;
  return { ...record, metadata: { ...metadata, ...Object.fromEntries(written) } } as Some;
}
