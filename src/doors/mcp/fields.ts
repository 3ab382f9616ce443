import type { FieldDefinition } from '../../../lib/internal.js';
import { jsonWithin } from './text.js';

/** A field of the metadata, with some of its values. */
export interface FieldFacts {
  readonly name: string;
  /** Type of its values, or the format of dates. */
  readonly type: string;
  /** Values that some records have, as JSON; of numbers and dates the least and the greatest. */
  readonly values: readonly string[];
}

/** Values of a field that are named. */
const namedValues = 4;

type Fields = readonly Pick<FieldDefinition, 'name' | 'type' | 'format'>[];

/** Finds values of the fields in some records. Integers beyond 2^53 are bigints or decimal strings. */
export function fieldFacts(
  fields: Fields,
  records: readonly { readonly metadata?: object | undefined }[],
): FieldFacts[] {
  return fields.map(({ name, type, format }) => {
    const found = records.flatMap(({ metadata = {} }) =>
      Object.hasOwn(metadata, name) ? [Reflect.get(metadata, name) as unknown] : [],
    );
    const isOrdered = type === 'int' || type === 'float';
    return {
      name,
      type: format ?? type,
      values: isOrdered ? rangeOf(found, format !== undefined) : someOf(found),
    };
  });
}

function rangeOf(found: readonly unknown[], areDates: boolean): string[] {
  let least: unknown;
  let greatest: unknown;
  for (const each of found) {
    const value = typeof each === 'string' && !areDates ? BigInt(each) : each;
    if (least === undefined || (value as number) < (least as number)) least = value;
    if (greatest === undefined || (value as number) > (greatest as number)) greatest = value;
  }
  return least === undefined ? [] : least === greatest ? [`${least}`] : [`${least} to ${greatest}`];
}

function someOf(found: readonly unknown[]): string[] {
  const values = new Set<string>();
  for (const value of found)
    for (const each of Array.isArray(value) ? value.slice(0, namedValues) : [value]) {
      if (values.size === namedValues) return [...values];
      values.add(jsonWithin(String(each), 40));
    }
  return [...values];
}
