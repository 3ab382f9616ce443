import type { FieldDefinition } from '../../../lib/internal.js';
import { printableWithin } from './text.js';

/** A field of the metadata, with some of its values. */
export interface FieldFacts {
  readonly name: string;
  readonly type: string;
  /** Values that some records have, as JSON; of numbers the least and the greatest. */
  readonly values: readonly string[];
}

/** Values of a field that are named. */
const namedValues = 4;

type Fields = readonly Pick<FieldDefinition, 'name' | 'type'>[];

/** Finds values of the fields in some records. */
export function fieldFacts(fields: Fields, records: readonly { readonly metadata?: object }[]): FieldFacts[] {
  return fields.map(({ name, type }) => {
    const numbers = type === 'int' || type === 'float';
    let least: number | bigint | undefined;
    let greatest: number | bigint | undefined;
    const values = new Set<string>();
    for (const { metadata = {} } of records) {
      const value: unknown = Object.hasOwn(metadata, name) ? Reflect.get(metadata, name) : undefined;
      if (typeof value === 'number' || typeof value === 'bigint') {
        if (least === undefined || value < least) least = value;
        if (greatest === undefined || value > greatest) greatest = value;
        continue;
      }
      for (const each of Array.isArray(value) ? value : value === undefined ? [] : [value])
        if (values.size < namedValues) values.add(JSON.stringify(printableWithin(String(each), 40)));
    }
    const range = least === undefined ? [] : least === greatest ? [`${least}`] : [`${least} to ${greatest}`];
    return { name, type, values: numbers ? range : [...values] };
  });
}
