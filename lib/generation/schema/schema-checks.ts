import { LorekeepError } from '../../boundary/errors.js';

/** A schema as JSON: an object, true or false. */
export type Schema = Readonly<Record<string, unknown>>;

/** Keywords that say nothing about which values are allowed. */
const annotations: ReadonlySet<string> = new Set([
  ...['$schema', '$id', 'id', '$comment', '$defs', 'definitions', '$anchor', '$vocabulary', 'title'],
  ...['description', 'default', 'example', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
  ...['contentEncoding', 'contentMediaType', 'contentSchema', 'discriminator', 'externalDocs'],
]);

export const isAnnotation = (keyword: string) => annotations.has(keyword) || keyword.startsWith('x-');

/** Maximum number of repetitions that a bound may ask for. */
const maxRepetitions = 10_000;

export function refuse(pointer: string, problem: string): never {
  const shown = pointer === '' ? 'the schema' : pointer;
  const reason = `${shown}: ${problem}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'schema', reason, pointer });
}

/** Limits of a schema: its values, itself included; the characters of its keys and strings; the nesting of its values. */
const maxValues = 100_000;
const maxCharacters = 1_000_000;
const deepestValue = 256;

/** Refuses a schema whose conversion would take long, before it begins. Visits no more values than the limit. */
export function checkSize(schema: unknown): void {
  const pending: { value: object; depth: number }[] = [];
  let values = 0;
  let characters = 0;
  const add = (value: unknown, depth: number, key = '') => {
    characters += key.length + (typeof value === 'string' ? value.length : 0);
    if (++values > maxValues) refuse('', `has more than ${maxValues} values`);
    if (characters > maxCharacters) refuse('', `has more than ${maxCharacters} characters`);
    if (depth > deepestValue) refuse('', `its values are nested deeper than ${deepestValue}`);
    if (typeof value === 'object' && value !== null) pending.push({ value, depth });
  };
  add(schema, 0);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next;
    if (Array.isArray(value)) for (const item of value) add(item, depth + 1);
    else for (const key in value) add((value as Schema)[key], depth + 1, key);
  }
}

/** A bound of a length or a number of items; undefined if the schema has none. */
export function countAt(schema: Schema, keyword: string, at: string): number | undefined {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  const place = `${at}/${keyword}`;
  if (!Number.isInteger(value) || (value as number) < 0)
    refuse(place, 'an integer of at least 0 is expected');
  if ((value as number) > maxRepetitions) refuse(place, `cannot be enforced above ${maxRepetitions}`);
  return value as number;
}

/** An array of strings; empty if the schema has none. */
export function stringsAt(schema: Schema, keyword: string, at: string): readonly string[] {
  const value = schema[keyword] ?? [];
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'string'))
    refuse(`${at}/${keyword}`, 'an array of strings is expected');
  return value as string[];
}

/** The members of an object, none if the schema has none. */
export function membersAt(schema: Schema, keyword: string, at: string): [name: string, value: unknown][] {
  const value = schema[keyword] ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(`${at}/${keyword}`, 'an object of schemas is expected');
  return Object.entries(value);
}

/** A non-empty array of schemas; undefined if the schema has none. */
export function listAt(schema: Schema, keyword: string, at: string): readonly unknown[] | undefined {
  const value = schema[keyword];
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0)
    refuse(`${at}/${keyword}`, 'a non-empty array is expected');
  return value;
}

export const escapePointer = (key: string) => key.slice(0, 128).replaceAll('~', '~0').replaceAll('/', '~1');

/** Maximum number of characters of a pointer. */
const longestPointer = 4096;

/** Returns the value at a pointer; undefined if there is none, or the pointer is malformed or too long. */
export function targetOf(root: unknown, pointer: string): unknown {
  if (pointer.length > longestPointer) return undefined;
  let at = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = decoded(part)?.replaceAll('~1', '/').replaceAll('~0', '~');
    if (key === undefined) return undefined;
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
