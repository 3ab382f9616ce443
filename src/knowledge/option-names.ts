import { LorekeepError } from '../../lib/internal.js';
import { didYouMean, nearestName } from '../base/schema/nearest.js';

/** All names of an options type: an object literal of this type cannot miss one. */
export type OptionNames<T> = Record<keyof T, true>;

/**
 * Otherwise a mistyped name would be silently ignored. `prefix` precedes the name in errors, such as "rrf.".
 * @throws INVALID_ARGUMENT for anything but an object, and for an unknown name, with the nearest known one
 */
export function checkOptionNames(given: unknown, known: object, what: string, prefix = ''): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const message = `${prefix === '' ? what : prefix.slice(0, -1)}: an object is expected`;
    throw new LorekeepError('INVALID_ARGUMENT', message, { field: prefix.slice(0, -1) || what });
  }
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const camel = unknown.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  const meant = Object.hasOwn(known, camel) ? camel : nearestName(unknown, Object.keys(known));
  const reason = `is not an option of ${what}${didYouMean(meant)}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field: `${prefix}${unknown}`, reason });
}
