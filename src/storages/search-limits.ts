import { fail } from '../protocol/errors.js';
import { countValues } from '../schema/bounded.js';

/** Characters of a query, in every mode: looking it up by words takes some milliseconds of one thread then. */
export const maxQueryLength = 32_768;

/** Values and objects in one filter: compiling them takes about 1 µs each, and 10 µs for an object. */
const filterLimits = { values: 20_000, objects: 2000 };

/** `path` is where the text comes from. @throws TextTooLong */
export function checkQueryLength(text: string, path: string): void {
  const { length } = text;
  if (length <= maxQueryLength) return;
  const message = `${path}: the text has ${length} characters, a query has at most ${maxQueryLength}`;
  fail(5002, message, { path, length, limit: maxQueryLength });
}

/** @throws `invalid` */
export function checkFilterSize(filter: unknown, path: string, invalid: 1004 | 4003): void {
  const { values, objects } = filterLimits;
  const counted = countValues(filter, values);
  if (counted.values > values)
    fail(invalid, `${path}: it has more than ${values} values, the most that a filter may have`, {
      path,
      limit: values,
    });
  if (counted.objects > objects)
    fail(invalid, `${path}: it has ${counted.objects} objects, a filter has at most ${objects}`, {
      path,
      limit: objects,
    });
}
