import type { SearchPlaces } from '../failure/wire-errors.js';
import { fail } from '../protocol/errors.js';
import { countValues } from '../schema/bounded.js';

/** Longest query in characters, in every mode: its lexical search takes a few milliseconds of one thread. */
export const maxQueryLength = 32_768;

/** Most values and objects in one filter: compiling takes about 1 µs per value and 10 µs per object. */
const filterLimits = { values: 20_000, objects: 2000 };

/** `path`: the text's field in the request. @throws TextTooLong */
export function checkQueryLength(text: string, path: string): void {
  const { length } = text;
  if (length <= maxQueryLength) return;
  const message = `${path}: the text has ${length} characters, a query has at most ${maxQueryLength}`;
  fail(5002, message, { path, length, limit: maxQueryLength });
}

/** @throws `places.invalid` */
export function checkFilterSize(
  filter: unknown,
  { fields, invalid }: Pick<SearchPlaces, 'fields' | 'invalid'>,
): void {
  const path = `${fields}filter`;
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
