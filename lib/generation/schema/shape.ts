import type { Bound } from '../number-range.js';

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

/** The types of JSON; integers are numbers. */
export const jsonTypes: readonly JsonType[] = ['object', 'array', 'string', 'number', 'boolean', 'null'];

/** A schema and its place as a JSON pointer. */
export interface Located {
  readonly schema: unknown;
  readonly at: string;
}

export interface StringShape {
  readonly patterns: readonly { readonly pattern: string; readonly at: string; readonly negated: boolean }[];
  readonly formats: readonly { readonly format: string; readonly at: string }[];
  readonly least: number;
  readonly most: number;
}

export interface NumberShape {
  readonly least: Bound | undefined;
  readonly most: Bound | undefined;
  readonly multiples: readonly number[];
}

/** What one schema says about the items of an array. */
export interface ArrayPart {
  readonly prefix: readonly Located[];
  /** Of the items after the prefix. */
  readonly items: Located | undefined;
}

export interface ArrayShape {
  readonly parts: readonly ArrayPart[];
  readonly least: number;
  readonly most: number;
  readonly contains: readonly (Located & { readonly least: number })[];
  /** Place of uniqueItems. */
  readonly unique: string | undefined;
  /** Of items that no part speaks of. */
  readonly unevaluated: Located | undefined;
}

/** What one schema says about the properties of an object. */
export interface ObjectPart {
  readonly properties: ReadonlyMap<string, Located>;
  readonly patterns: readonly (Located & { readonly pattern: string })[];
  readonly additional: Located | undefined;
  /** Whether its properties do not count as evaluated. */
  readonly silent: boolean;
}

export interface ObjectShape {
  readonly parts: readonly ObjectPart[];
  readonly required: ReadonlySet<string>;
  readonly forbidden: ReadonlySet<string>;
  /** Schemas of names. */
  readonly names: readonly Located[];
  readonly least: number;
  readonly most: number;
  /** Of properties that no part speaks of. */
  readonly unevaluated: Located | undefined;
}

/** Constraints that hold together. A schema with alternatives has several shapes. */
export interface Shape {
  readonly at: string;
  /** As "type" says. */
  readonly types: ReadonlySet<JsonType> | undefined;
  /** Types of the keywords. */
  readonly mentioned: ReadonlySet<JsonType>;
  readonly constants: readonly unknown[] | undefined;
  readonly excluded: readonly unknown[];
  readonly string: StringShape;
  readonly number: NumberShape;
  readonly array: ArrayShape;
  readonly object: ObjectShape;
}

/** Reads schemas as shapes. */
export interface ShapeReader {
  /** The shapes of the values that are valid for all of the schemas. */
  of(list: readonly Located[]): readonly Shape[];
}

const infinity = Number.POSITIVE_INFINITY;

/** By type, the set that has it alone: shapes of one type share one set, which is compared at once. */
const setsOfOne = new Map([...jsonTypes, 'integer' as const].map((type) => [type, new Set([type])]));
const allTypes: ReadonlySet<JsonType> = new Set(jsonTypes);
export const noTypes: ReadonlySet<JsonType> = new Set();

export const isType = (name: unknown): name is JsonType => setsOfOne.has(name as JsonType);
export const onlyType = (type: JsonType): ReadonlySet<JsonType> => setsOfOne.get(type) ?? noTypes;

/** What a schema without keywords says. No shape is changed, so all begin with these. */
const anything: Omit<Shape, 'at'> = {
  types: undefined,
  mentioned: noTypes,
  constants: undefined,
  excluded: [],
  string: { patterns: [], formats: [], least: 0, most: infinity },
  number: { least: undefined, most: undefined, multiples: [] },
  array: { parts: [], least: 0, most: infinity, contains: [], unique: undefined, unevaluated: undefined },
  object: {
    parts: [],
    required: new Set(),
    forbidden: new Set(),
    names: [],
    least: 0,
    most: infinity,
    unevaluated: undefined,
  },
};

export const shapeOfAll = (at: string): Shape => ({ at, ...anything });

export function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (Number.isInteger(value)) return 'integer';
  return typeof value as JsonType;
}

export function hasType(types: ReadonlySet<JsonType>, value: unknown): boolean {
  const type = typeOf(value);
  return types.has(type) || (type === 'integer' && types.has('number'));
}

/** The types that both sets have; an integer is a number, too. */
export function commonTypes(one: ReadonlySet<JsonType>, other: ReadonlySet<JsonType>): ReadonlySet<JsonType> {
  if (one === other) return one;
  const within = (type: JsonType, set: ReadonlySet<JsonType>) =>
    set.has(type) || (type === 'integer' && set.has('number'));
  return withoutIntegers(
    [...one].filter((type) => within(type, other)).concat([...other].filter((type) => within(type, one))),
  );
}

/** A set of types without integer beside number. */
export function withoutIntegers(types: readonly JsonType[]): ReadonlySet<JsonType> {
  if (types.length === 1) return onlyType(types[0] as JsonType);
  const set = new Set(types);
  if (set.has('number')) set.delete('integer');
  return set;
}

/**
 * The types of a shape. Without "type", those of its constants, else those that its keywords are about: a schema with
 * "properties" means an object.
 */
export function typesOf(shape: Shape): ReadonlySet<JsonType> {
  if (shape.types !== undefined) return shape.types;
  if (shape.constants !== undefined) return withoutIntegers(shape.constants.map(typeOf));
  return shape.mentioned.size > 0 ? withoutIntegers([...shape.mentioned]) : allTypes;
}

/** JSON that is the same for equal values, whatever the order of their keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
