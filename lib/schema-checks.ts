import { LorekeepError } from './errors.js';

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

/** Most repetitions that a bound may ask for. */
const mostRepetitions = 10_000;

export function refuse(pointer: string, problem: string): never {
  const shown = pointer === '' ? 'the schema' : pointer;
  const reason = `${shown}: ${problem}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'schema', reason, pointer });
}

/** Refuses keywords beside those named and annotations: the grammar could not enforce both. */
export function only(schema: Schema, keywords: readonly string[], at: string): void {
  for (const keyword of Object.keys(schema)) {
    if (keywords.includes(keyword) || annotations.has(keyword)) continue;
    refuse(`${at}/${escapePointer(keyword)}`, `cannot be enforced beside ${keywords[0]}`);
  }
}

/** The types that a schema allows, without number where integer is meant. Default: those of its keywords, else all. */
export function typesOf(schema: Schema, at: string): string[] {
  const { type } = schema;
  if (type === undefined) {
    const meant = types.filter((each) => keywordsOf[each]?.some((keyword) => schema[keyword] !== undefined));
    if (meant.length > 1) refuse(at, 'a type is expected: its keywords are about several');
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

/** Refuses overlapping alternatives: a grammar cannot enforce that exactly one of them matches. */
export function refuseOverlap(options: readonly unknown[], at: string): void {
  for (const [index, one] of options.entries())
    for (const other of options.slice(index + 1))
      if (!areDisjoint(one, other))
        refuse(
          at,
          'two alternatives may allow the same value; use anyOf, or give each its own type or a const',
        );
}

function areDisjoint(one: unknown, other: unknown): boolean {
  const [a, b] = [constantsOf(one), constantsOf(other)];
  if (a !== undefined && b !== undefined) return !a.some((value) => b.includes(value));
  const [left, right] = [one, other].map((schema) => (schema as Schema | null)?.type);
  if (typeof left === 'string' && typeof right === 'string' && left !== right)
    return !(['integer', 'number'].includes(left) && ['integer', 'number'].includes(right));
  return haveDisjointProperty(one as Schema, other as Schema);
}

/** Whether both are objects that need a property which has different constants. */
function haveDisjointProperty(one: Schema | null, other: Schema | null): boolean {
  const needed = Array.isArray(one?.required) ? (one.required as string[]) : [];
  return needed.some((name) => {
    if (!Array.isArray(other?.required) || !other.required.includes(name)) return false;
    const [a, b] = [one, other].map((schema) =>
      constantsOf((schema?.properties as Schema | undefined)?.[name]),
    );
    return a !== undefined && b !== undefined && !a.some((value) => b.includes(value));
  });
}

function constantsOf(schema: unknown): string[] | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { const: only, enum: list } = schema as Schema;
  if (only !== undefined) return [JSON.stringify(only)];
  return Array.isArray(list) ? list.map((value) => JSON.stringify(value)) : undefined;
}

export function bounds(schema: Schema, low: string, high: string, at: string): [number, number] {
  const bound = (name: string, absent: number) => {
    const value = schema[name];
    if (value === undefined) return absent;
    if (!Number.isInteger(value) || (value as number) < 0)
      refuse(`${at}/${name}`, 'an integer of at least 0 is expected');
    if ((value as number) > mostRepetitions)
      refuse(`${at}/${name}`, `cannot be enforced above ${mostRepetitions}`);
    return value as number;
  };
  const [least, most] = [bound(low, 0), bound(high, Number.POSITIVE_INFINITY)];
  if (least > most) refuse(`${at}/${high}`, `is less than ${low}`);
  return [least, most];
}

export const escapePointer = (key: string) => key.slice(0, 128).replaceAll('~', '~0').replaceAll('/', '~1');

export function targetOf(root: unknown, pointer: string): unknown {
  let at = root;
  for (const part of pointer.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** Whether following references alone, without a value in between, comes back to the first one. */
export function leadsToItself(root: unknown, pointer: string): boolean {
  const pending = [pointer];
  const seen = new Set<string>();
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const target = targetOf(root, next) as Schema | undefined;
    if (typeof target !== 'object' || target === null) continue;
    const options = [target, ...[target.anyOf, target.oneOf, target.allOf].filter(Array.isArray).flat()];
    for (const option of options) {
      const reference = (option as Schema | null)?.$ref;
      if (typeof reference !== 'string') continue;
      if (reference === pointer) return true;
      if (seen.has(reference)) continue;
      seen.add(reference);
      pending.push(reference);
    }
  }
  return false;
}
