import { countValues } from '../base/schema/bounded.js';
import { fail } from '../protocol/errors.js';
import type { SearchPlaces } from './wire-errors.js';

/** Characters of a query that are searched for: the lexical search of them takes a few milliseconds of one thread. */
export const maxQueryLength = 32_768;

/**
 * The most that one filter may have: compiling takes about 1 µs per value, 10 µs per object, and 2 ms per million
 * characters.
 */
const filterLimits = { values: 20_000, objects: 2000, characters: 4_194_304 };

/** Returns the part of a query that is searched for: of a longer one, its beginning and its end. */
export function searchedPart(text: string): string {
  if (text.length <= maxQueryLength) return text;
  const half = (maxQueryLength - 1) / 2;
  return `${text.slice(0, Math.ceil(half))}\n${text.slice(-Math.floor(half))}`;
}

/** Number of values, or of thousands of characters, up to which a filter compiles in less than a millisecond. */
const smallFilter = 32;

/** Returns whether the filter takes long to compile. @throws `places.invalid` */
export function checkFilterSize(
  filter: unknown,
  { fields, invalid }: Pick<SearchPlaces, 'fields' | 'invalid'>,
): boolean {
  const path = `${fields}filter`;
  const { values, objects, characters } = filterLimits;
  const counted = countValues(filter, values, characters);
  const refuse = (problem: string, limit: number) => fail(invalid, `${path}: ${problem}`, { path, limit });
  if (counted.characters > characters)
    refuse(`its texts have more than ${characters} characters, the limit of a filter`, characters);
  if (counted.values > values) refuse(`it has more than ${values} values, the limit of a filter`, values);
  if (counted.objects > objects)
    refuse(`it has ${counted.objects} objects, a filter has at most ${objects}`, objects);
  return counted.values + counted.characters / 1000 > smallFilter;
}
