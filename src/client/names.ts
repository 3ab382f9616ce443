import type { z } from 'zod';
import type { serverSchemas } from '../agents/wire/frames.js';
import type { RequestType } from '../protocol/frames.js';
import { requestShape, type Shape, serverShape } from './shapes.js';

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
  return converter(requestShape(type), 'wire')(fields) as object;
}

/** Converts a server frame to this client's names. */
export function fromWire(frame: { type: string }): object {
  return converter(serverShape(frame.type), 'camel')(frame) as object;
}

/** Converts fields of a server frame back to protocol names. */
export function replyToWire<Type extends keyof typeof serverSchemas>(
  type: Type,
  fields: object,
): z.output<(typeof serverSchemas)[Type]> {
  return converter(serverShape(type), 'wire')(fields) as z.output<(typeof serverSchemas)[Type]>;
}

const unchanged: Convert = (value) => value;

const converters = { camel: new WeakMap<object, Convert>(), wire: new WeakMap<object, Convert>() };

/** Returns a function that renames the shape's fields. Free-form values (metadata, variables, filters) are unchanged. */
function converter(shape: Shape, spelling: Spelling): Convert {
  if (shape === null) return unchanged;
  const known = converters[spelling];
  const made = known.get(shape) ?? makeConverter(shape, spelling);
  known.set(shape, made);
  return made;
}

function makeConverter(shape: NonNullable<Shape>, spelling: Spelling): Convert {
  if ('fields' in shape) return objectConverter(shape.fields, spelling);
  if ('items' in shape) return arrayConverter(converter(shape.items, spelling));
  return unionConverter(shape.by, shape.options, spelling);
}

function objectConverter(shapes: Readonly<Record<string, Shape>>, spelling: Spelling): Convert {
  const fields = new Map<string, { to: string; convert: Convert }>();
  for (const [name, shape] of Object.entries(shapes)) {
    const camel = name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    const convert = converter(shape, spelling);
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

function unionConverter(by: string, options: Readonly<Record<string, Shape>>, spelling: Spelling): Convert {
  const byValue = new Map(
    Object.entries(options).map(([value, shape]) => [value, converter(shape, spelling)] as const),
  );
  return (value) =>
    isObject(value)
      ? (byValue.get(String((value as Record<string, unknown>)[by])) ?? unchanged)(value)
      : value;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
