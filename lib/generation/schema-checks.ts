import { LorekeepError } from '../boundary/errors.js';

/** A schema as JSON: an object, true or false. */
export type Schema = Readonly<Record<string, unknown>>;

/** Keywords that say nothing about which values are allowed. */
export const annotations: ReadonlySet<string> = new Set([
  ...['$schema', '$id', '$comment', '$defs', 'definitions', 'title', 'description', 'default', 'examples'],
  ...['deprecated', 'readOnly', 'writeOnly'],
]);

/** Keywords by the type of value that they are about; they mean nothing for other types. */
export const keywordsOf: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  number: [],
  boolean: [],
  null: [],
};

const types = Object.keys(keywordsOf);

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

/** Refuses keywords other than those named and annotations: the grammar could not enforce both. */
export function only(schema: Schema, keywords: readonly string[], at: string): void {
  for (const keyword of Object.keys(schema)) {
    if (keywords.includes(keyword) || annotations.has(keyword)) continue;
    refuse(`${at}/${escapePointer(keyword)}`, `cannot be enforced beside ${keywords[0]}`);
  }
}

/** The types that a schema allows, without number where integer is meant. Default: the types of its keywords, else all. */
export function typesOf(schema: Schema, at: string): string[] {
  const { type } = schema;
  if (type === undefined) {
    const meant = types.filter((each) => keywordsOf[each]?.some((keyword) => schema[keyword] !== undefined));
    if (meant.length > 1) refuse(at, '"type" is expected: the keywords belong to several types');
    return meant.length === 1 ? meant : types.filter((each) => each !== 'integer');
  }
  const list = Array.isArray(type) ? type : [type];
  const unknown = list.find((each) => !types.includes(each));
  if (unknown !== undefined || list.length === 0)
    refuse(`${at}/type`, `one of ${types.join(', ')} is expected`);
  return list.includes('number') ? list.filter((each) => each !== 'integer') : list;
}

export function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** Maximum number of alternatives of one oneOf: each is compared with each. */
const maxAlternatives = 256;

/** The properties that distinguish an alternative from others. */
interface Alternative {
  readonly type: unknown;
  /** As JSON. */
  readonly constants: ReadonlySet<string> | undefined;
  /** Constants of the properties that it needs. */
  readonly properties: ReadonlyMap<string, ReadonlySet<string> | undefined>;
}

/** Refuses overlapping alternatives: a grammar cannot enforce that exactly one of them matches. */
export function refuseOverlap(options: readonly unknown[], at: string): void {
  if (options.length > maxAlternatives) refuse(at, `more than ${maxAlternatives} alternatives; use anyOf`);
  const alternatives = options.map(alternativeOf);
  for (const [index, one] of alternatives.entries())
    for (const other of alternatives.slice(index + 1))
      if (!areDisjoint(one, other))
        refuse(
          at,
          'two alternatives may allow the same value; use anyOf, or give each its own type or a const',
        );
}

function alternativeOf(schema: unknown): Alternative {
  const { type, required, properties } = (schema ?? {}) as Schema;
  const needed = Array.isArray(required) ? (required as string[]) : [];
  const constants = (name: string) => constantsOf((properties as Schema | undefined)?.[name]);
  return {
    type,
    constants: constantsOf(schema),
    properties: new Map(needed.map((name) => [name, constants(name)])),
  };
}

function areDisjoint(one: Alternative, other: Alternative): boolean {
  if (one.constants !== undefined && other.constants !== undefined)
    return haveNothingInCommon(one.constants, other.constants);
  const [left, right] = [one.type, other.type];
  if (typeof left === 'string' && typeof right === 'string' && left !== right)
    return !(['integer', 'number'].includes(left) && ['integer', 'number'].includes(right));
  return haveDisjointProperty(one, other);
}

function haveNothingInCommon(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const [fewer, more] = one.size < other.size ? [one, other] : [other, one];
  for (const value of fewer) if (more.has(value)) return false;
  return true;
}

/** Whether both need a property that has different constants. */
function haveDisjointProperty(one: Alternative, other: Alternative): boolean {
  for (const [name, constants] of one.properties) {
    const others = other.properties.get(name);
    if (constants !== undefined && others !== undefined && haveNothingInCommon(constants, others))
      return true;
  }
  return false;
}

function constantsOf(schema: unknown): ReadonlySet<string> | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { const: only, enum: list } = schema as Schema;
  if (only !== undefined) return new Set([canonical(only)]);
  return Array.isArray(list) ? new Set(list.map(canonical)) : undefined;
}

/** JSON that is the same for equal values, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

export function bounds(schema: Schema, low: string, high: string, at: string): [number, number] {
  const bound = (name: string, absent: number) => {
    const value = schema[name];
    if (value === undefined) return absent;
    if (!Number.isInteger(value) || (value as number) < 0)
      refuse(`${at}/${name}`, 'an integer of at least 0 is expected');
    if ((value as number) > maxRepetitions)
      refuse(`${at}/${name}`, `cannot be enforced above ${maxRepetitions}`);
    return value as number;
  };
  const [least, most] = [bound(low, 0), bound(high, Number.POSITIVE_INFINITY)];
  if (least > most) refuse(`${at}/${high}`, `is less than ${low}`);
  return [least, most];
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

/** By the pointer of a schema, the references that it leads to without a value in between. */
export type Leads = Map<string, readonly string[]>;

/**
 * Whether a chain of references without a value in between returns to its first one. `leads` keeps the references that
 * earlier calls with the same root have found.
 */
export function leadsToItself(root: unknown, pointer: string, leads: Leads): boolean {
  const pending = [pointer];
  const seen = new Set<string>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const found = leads.get(next) ?? referencesOf(targetOf(root, next));
    leads.set(next, found);
    for (const reference of found) {
      if (reference === pointer) return true;
      if (seen.has(reference)) continue;
      seen.add(reference);
      pending.push(reference);
    }
  }
  return false;
}

function referencesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { anyOf, oneOf, allOf } = schema as Schema;
  const options = [schema, ...[anyOf, oneOf, allOf].filter(Array.isArray).flat()];
  const references = options.map((option) => (option as Schema | null)?.$ref);
  return [...new Set(references.filter((reference) => typeof reference === 'string'))];
}
