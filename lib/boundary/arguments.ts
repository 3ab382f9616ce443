import { LorekeepError } from './errors.js';
import { describe } from './native-call.js';

/** @throws INVALID_ARGUMENT */
export function refuse(field: string, reason: string): never {
  throw LorekeepError.about('INVALID_ARGUMENT', { field, reason });
}

/** Half a surrogate pair. UTF-8 cannot represent it, so it would become another character. */
const halfCharacter = /\p{Surrogate}/u;

/** Returns why a text is not valid Unicode; undefined if it is. */
export function halfCharacterIn(text: string): string | undefined {
  const at = text.search(halfCharacter);
  return at < 0 ? undefined : `an unpaired surrogate at index ${at} is not a character`;
}

/** @throws INVALID_ARGUMENT for a text that is not valid Unicode */
export function refuseHalfCharacters(field: string, text: string): void {
  const problem = halfCharacterIn(text);
  if (problem !== undefined) refuse(field, problem);
}

/** Returns an integer in [min, max], or the default if the value is undefined. @throws INVALID_ARGUMENT */
export function integerArgument(
  name: string,
  value: number | undefined,
  fallback: number,
  min: number,
  max: number,
): number {
  if (value === undefined) return fallback;
  if (!Number.isInteger(value) || value < min || value > max) {
    const found = typeof value === 'number' ? value : describe(value);
    refuse(name, `an integer from ${min} to ${max} is expected, not ${found}`);
  }
  return value;
}

/** Numbers per vector. */
export const dimensionArgument = (dimension: number) => integerArgument('dimension', dimension, 0, 1, 65_536);

/** Maximum number of hits of an index search. */
export const hitsArgument = (k: number | undefined) => integerArgument('k', k, 10, 1, 10_000);

/** Selects the addon's default number of candidates. */
export const defaultEf = 0;

/** Candidates held during a graph search. */
export const efArgument = (ef: number | undefined, fallback = defaultEf) =>
  integerArgument('ef', ef, fallback, 1, 100_000);

export const maxThreads = 1024;

/** Threads for one call; 0, the default: all that the process may use. */
export const threadsArgument = (threads: number | undefined) =>
  integerArgument('threads', threads, 0, 0, maxThreads);

/**
 * Returns a finite number of at least `min`, or of more with `above`, and at most `max`; the default if the value is undefined.
 * @throws INVALID_ARGUMENT
 */
export function numberArgument(
  name: string,
  value: number | undefined,
  fallback: number,
  min: number,
  max = Number.POSITIVE_INFINITY,
  above = false,
): number {
  if (value === undefined) return fallback;
  const isLow = above ? !(value > min) : !(value >= min);
  if (typeof value !== 'number' || !Number.isFinite(value) || isLow || value > max) {
    const to = `${above ? 'above' : 'from'} ${min} ${above ? 'up to' : 'to'} ${max}`;
    const range = max === Number.POSITIVE_INFINITY ? `of at least ${min}` : to;
    refuse(name, `a number ${range} is expected, not ${typeof value === 'number' ? value : describe(value)}`);
  }
  return value;
}

/** Returns one of the listed strings, or the default if the value is undefined. @throws INVALID_ARGUMENT */
export function choiceArgument<T extends string>(
  name: string,
  value: T | undefined,
  fallback: T,
  choices: readonly T[],
): T {
  if (value === undefined) return fallback;
  if (!choices.includes(value)) {
    const found = JSON.stringify(value) ?? describe(value);
    refuse(name, `one of ${choices.join(', ')} is expected, not ${found}`);
  }
  return value;
}

/** Returns a boolean, or the default if the value is undefined. @throws INVALID_ARGUMENT */
export function booleanArgument(name: string, value: boolean | undefined, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean') refuse(name, `true or false is expected, not ${describe(value)}`);
  return value;
}

/** Whether a value is a plain object: no array, Map or other kind of object. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Refuses an object with a field that is not a name of `known`. `where`: the object's name. @throws INVALID_ARGUMENT */
export function refuseUnknownFields(where: string, given: object, known: object): void {
  if (typeof given !== 'object' || given === null)
    refuse(where, `an object is expected, not ${describe(given)}`);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  refuse(`${where}.${unknown}`, `is not a known field; the fields are ${Object.keys(known).join(', ')}`);
}

/** Returns a non-empty string. @throws INVALID_ARGUMENT */
export function stringArgument(name: string, value: string): string {
  if (typeof value !== 'string' || value === '') refuse(name, 'a non-empty string is expected');
  return value;
}

/** Returns row-major vectors whose length is a multiple of `dimension`. */
export function vectorsArgument(name: string, value: Float32Array, dimension: number): Float32Array {
  if (!(value instanceof Float32Array)) refuse(name, `a Float32Array is expected, not ${describe(value)}`);
  if (value.length % dimension !== 0) {
    throw new LorekeepError(
      'DIMENSION_MISMATCH',
      `${name}: ${value.length} numbers are not a whole number of rows of ${dimension}`,
      { field: name, dimension, length: value.length },
    );
  }
  return value;
}
