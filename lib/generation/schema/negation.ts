import type { Work } from '../languages/work.js';
import { isAnnotation, refuse, type Schema } from './schema-checks.js';
import { type JsonType, jsonTypes, type Located, withoutIntegers } from './shape.js';

/** Units of work of a negated schema, and the deepest nesting; a reference may lead back to the schema that it is in. */
const negationUnits = 10;
const deepest = 100;

/** A keyword of ours, which no schema can spell: a pattern that must not match. */
export const mismatch = Symbol('mismatch');
/** A keyword of ours: constants that a value must not equal. */
export const others = Symbol('others');
/** A keyword of ours: names that an object must not have. */
export const absent = Symbol('absent');

/** A keyword of ours: the properties of a schema do not count as evaluated. */
export const silent = Symbol('silent');

interface Context {
  readonly resolve: (schema: Schema, at: string) => Located;
  readonly work: Work;
}

/**
 * Returns schemas such that a value is valid for one of them exactly if it is not valid for the given one. Schemas that refer to
 * others twice have as many as a power of two. @throws TooMuchWork
 */
export function negationOf({ schema, at }: Located, { resolve, work }: Context, depth = 0): Located[] {
  if (depth > deepest) refuse(at, `nested deeper than ${deepest}`);
  work.spend(negationUnits);
  if (schema === true) return [];
  if (schema === false) return [{ schema: true, at }];
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    refuse(at, 'a schema is expected');
  const given = schema as Schema;
  return Object.entries(given).flatMap(([keyword, value]) => {
    if (isAnnotation(keyword)) return [];
    const place = `${at}/${keyword}`;
    const negate = (part: Located) => negationOf(part, { resolve, work }, depth + 1);
    if (keyword === '$ref') return negate(resolve(given, at));
    if (keyword === 'not') return [{ schema: value, at: place }];
    if (keyword === 'allOf' && Array.isArray(value))
      return value.flatMap((part, index) => negate({ schema: part, at: `${place}/${index}` }));
    if (keyword === 'anyOf' && Array.isArray(value)) {
      const allOf = value.map((part) => ({ not: part }));
      return [{ schema: { allOf }, at: place }];
    }
    const found = negated(keyword, value);
    if (found === undefined) return refuse(place, 'cannot be enforced in the negative');
    return found.map((each) => ({ schema: each, at: place }));
  });
}

function negated(keyword: string, value: unknown): Record<string | symbol, unknown>[] | undefined {
  const count = typeof value === 'number' ? value : Number.NaN;
  switch (keyword) {
    case 'type': {
      const types = (Array.isArray(value) ? value : [value]) as JsonType[];
      if (types.includes('integer') && !types.includes('number')) return undefined;
      const rest = jsonTypes.filter((type) => !types.includes(type));
      return rest.length === 0 ? [] : [{ type: [...withoutIntegers(rest)] }];
    }
    case 'const':
      return [{ [others]: [value] }];
    case 'enum':
      return Array.isArray(value) ? [{ [others]: value }] : undefined;
    case 'pattern':
      return [{ type: 'string', [mismatch]: value }];
    case 'minLength':
      return count > 0 ? [{ type: 'string', maxLength: count - 1 }] : [];
    case 'maxLength':
      return [{ type: 'string', minLength: count + 1 }];
    case 'minimum':
      return [{ type: 'number', exclusiveMaximum: value }];
    case 'maximum':
      return [{ type: 'number', exclusiveMinimum: value }];
    case 'exclusiveMinimum':
      return [{ type: 'number', maximum: value }];
    case 'exclusiveMaximum':
      return [{ type: 'number', minimum: value }];
    case 'minItems':
      return count > 0 ? [{ type: 'array', maxItems: count - 1 }] : [];
    case 'maxItems':
      return [{ type: 'array', minItems: count + 1 }];
    case 'required':
      return Array.isArray(value) ? value.map((name) => ({ type: 'object', [absent]: [name] })) : undefined;
    case 'properties':
      return Object.entries((value ?? {}) as Schema).map(([name, part]) => ({
        type: 'object',
        required: [name],
        properties: { [name]: { not: part } },
        [silent]: true,
      }));
    default:
      return undefined;
  }
}
