import type { z } from 'zod';
import { requestSchemas, serverSchemas } from '../agents/wire/frames.js';
import type { RequestType } from '../protocol/frames.js';

/** A protocol name in camelCase: `top_k` becomes `topK`, `_type` stays. */
type CamelName<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? Head extends ''
    ? Name
    : `${Head}${Capitalize<CamelName<Tail>>}`
  : Name;

/** A protocol type with field names in camelCase; free-form records keep their keys. */
export type CamelCased<T> = T extends readonly unknown[]
  ? number extends T['length']
    ? CamelCased<T[number]>[]
    : T
  : T extends object
    ? {
        [Key in keyof T as Key extends string
          ? string extends Key
            ? Key
            : CamelName<Key>
          : Key]: CamelCased<T[Key]>;
      }
    : T;

type Convert = (value: unknown) => unknown;
type Spelling = 'camel' | 'wire';

/** Converts a request's fields to protocol names; unknown names stay. @throws TypeError for a field in both spellings */
export function toWire<Fields extends object>(type: RequestType, fields: Fields): object {
  return converter(requestSchemas[type], 'wire')(fields) as object;
}

/** Converts a server frame to this client's names. */
export function fromWire(frame: { type: string }): object {
  const schema = (serverSchemas as Record<string, z.ZodType>)[frame.type];
  return (schema === undefined ? frame : converter(schema, 'camel')(frame)) as object;
}

/** Converts fields of a server frame back to protocol names. */
export function replyToWire<Type extends keyof typeof serverSchemas>(
  type: Type,
  fields: object,
): z.output<(typeof serverSchemas)[Type]> {
  return converter(serverSchemas[type], 'wire')(fields) as z.output<(typeof serverSchemas)[Type]>;
}

const unchanged: Convert = (value) => value;

const converters = {
  camel: new WeakMap<z.core.$ZodType, Convert>(),
  wire: new WeakMap<z.core.$ZodType, Convert>(),
};

/** Returns a function that renames the schema's fields. Free-form values (metadata, variables, filters) are unchanged. */
function converter(schema: z.core.$ZodType, spelling: Spelling): Convert {
  const known = converters[spelling];
  const made = known.get(schema) ?? makeConverter(schema, spelling);
  known.set(schema, made);
  return made;
}

function makeConverter(schema: z.core.$ZodType, spelling: Spelling): Convert {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') return objectConverter(def.shape, spelling);
  if (def.type === 'array') return arrayConverter(converter(def.element, spelling));
  if (def.type === 'union') return unionConverter(def as z.core.$ZodDiscriminatedUnionDef, spelling);
  if (def.type === 'pipe') return converter(def.out, spelling);
  return 'innerType' in def ? converter(def.innerType as z.core.$ZodType, spelling) : unchanged;
}

function objectConverter(shape: z.core.$ZodShape, spelling: Spelling): Convert {
  const fields = new Map<string, { to: string; convert: Convert }>();
  for (const [name, schema] of Object.entries(shape)) {
    const camel = name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    const convert = converter(schema, spelling);
    if (spelling === 'camel') fields.set(name, { to: camel, convert });
    else for (const spelt of [name, camel]) fields.set(spelt, { to: name, convert });
  }
  if ([...fields].every(([name, { to, convert }]) => name === to && convert === unchanged)) return unchanged;
  return (value) => (isObject(value) ? renamed(value, fields) : value);
}

function renamed(value: object, fields: ReadonlyMap<string, { to: string; convert: Convert }>): object {
  const entries = Object.entries(value).map(([name, field]) => {
    const { to, convert } = fields.get(name) ?? { to: name, convert: unchanged };
    if (to !== name && Object.hasOwn(value, to))
      throw new TypeError(`${name}: is the same field as ${to}; give one of them`);
    return [to, convert(field)];
  });
  return Object.fromEntries(entries);
}

const arrayConverter = (item: Convert): Convert =>
  item === unchanged ? unchanged : (value) => (Array.isArray(value) ? value.map(item) : value);

/** Returns the converter for a union. Only discriminated unions determine a value's schema. */
function unionConverter(
  { options, discriminator }: z.core.$ZodDiscriminatedUnionDef,
  spelling: Spelling,
): Convert {
  if (discriminator === undefined) return unchanged;
  const byValue = new Map<unknown, Convert>();
  for (const option of options) {
    for (const value of option._zod.propValues?.[discriminator] ?? [])
      byValue.set(value, converter(option, spelling));
  }
  return (value) =>
    isObject(value)
      ? (byValue.get((value as Record<string, unknown>)[discriminator]) ?? unchanged)(value)
      : value;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
