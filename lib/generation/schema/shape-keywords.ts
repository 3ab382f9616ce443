import { compareDecimals, decimalOf } from '../decimal.js';
import type { Bound } from '../number-range.js';
import { absent, mismatch, silent } from './negation.js';
import { countAt, escapePointer, membersAt, refuse, type Schema, stringsAt } from './schema-checks.js';
import { isType, type JsonType, jsonTypes, noTypes, onlyType, type Shape, withoutIntegers } from './shape.js';
import { formatPattern, integerFormatRange, knownFormats, numberFormats } from './string-formats.js';

/** Keywords by the type of value that they are about; they mean nothing for other types. */
const keywordsOf: Readonly<Partial<Record<JsonType, readonly string[]>>> = {
  object: [
    ...['properties', 'required', 'additionalProperties', 'patternProperties', 'propertyNames'],
    ...['minProperties', 'maxProperties', 'unevaluatedProperties'],
    ...['dependentRequired', 'dependentSchemas', 'dependencies'],
  ],
  array: [
    'items',
    'additionalItems',
    'prefixItems',
    'minItems',
    'maxItems',
    'contains',
    'minContains',
    'uniqueItems',
    'unevaluatedItems',
  ],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
};

const typeOfKeyword: ReadonlyMap<string, JsonType> = new Map(
  Object.entries(keywordsOf).flatMap(([type, keywords]) =>
    keywords.map((keyword) => [keyword, type as JsonType] as const),
  ),
);

/** The types that the keywords of a schema are about. */
export function mentionedBy(schema: Schema): ReadonlySet<JsonType> {
  let mentioned = noTypes;
  for (const keyword of Object.keys(schema)) {
    const type = typeOfKeyword.get(keyword);
    if (type === undefined || mentioned.has(type) || schema[keyword] === undefined) continue;
    mentioned = mentioned.size === 0 ? onlyType(type) : new Set([...mentioned, type]);
  }
  return mentioned;
}

/** Keywords that a grammar can enforce. */
export const enforced: ReadonlySet<string> = new Set([
  ...typeOfKeyword.keys(),
  ...['type', 'nullable', 'const', 'enum', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
]);

/** Keywords with alternatives. */
export const combining: ReadonlySet<string> = new Set([
  ...['anyOf', 'oneOf', 'not', 'if', 'dependentRequired', 'dependentSchemas', 'dependencies'],
]);

/** The types of a schema, with null if it is "nullable", which says nothing about a schema without types and references. */
export function shapeTypes({ type, nullable }: Schema, at: string): ReadonlySet<JsonType> | undefined {
  if (type === undefined) return undefined;
  const list = Array.isArray(type) ? type : [type];
  if (list.length === 0 || !list.every(isType))
    refuse(`${at}/type`, `one of ${[...jsonTypes, 'integer'].join(', ')} is expected`);
  return withoutIntegers(nullable === true ? [...list, 'null'] : list);
}

/** Returns what a shape and the keywords of a schema say about strings; the functions below do so for other types. */
export function stringShape(shape: Shape['string'], schema: Schema, at: string): Shape['string'] {
  const { pattern, format } = schema;
  const not = (schema as Record<symbol, unknown>)[mismatch];
  for (const given of [pattern, not])
    if (given !== undefined && typeof given !== 'string') refuse(`${at}/pattern`, 'a string is expected');
  if (format !== undefined) checkFormat(format, schema, at);
  const patterns = [
    ...(pattern === undefined ? [] : [{ pattern: pattern as string, at: `${at}/pattern`, negated: false }]),
    ...(not === undefined ? [] : [{ pattern: not as string, at: `${at}/pattern`, negated: true }]),
  ];
  return {
    patterns: [...shape.patterns, ...patterns],
    formats:
      format === undefined
        ? shape.formats
        : [...shape.formats, { format: format as string, at: `${at}/format` }],
    least: Math.max(shape.least, countAt(schema, 'minLength', at) ?? 0),
    most: Math.min(shape.most, countAt(schema, 'maxLength', at) ?? Number.POSITIVE_INFINITY),
  };
}

/** zod has formats of its own, beside a pattern or several that say more. */
function checkFormat(format: unknown, { pattern, allOf }: Schema, at: string): void {
  const isKnown =
    typeof format === 'string' &&
    (formatPattern(format) !== undefined ||
      integerFormatRange(format) !== undefined ||
      numberFormats.has(format));
  const parts = Array.isArray(allOf) ? (allOf as readonly (Schema | null)[]) : [];
  if (isKnown || pattern !== undefined || parts.some((part) => part?.pattern !== undefined)) return;
  refuse(`${at}/format`, `cannot be enforced; known are ${knownFormats.join(', ')}`);
}

const wide = (value: number): number | bigint => (Math.abs(value) < 1e30 ? BigInt(value) : value);

export function numberShape(
  shape: Shape['number'],
  schema: Schema,
  at: string,
  types: ReadonlySet<JsonType> | undefined,
): Shape['number'] {
  // In draft 4, an exclusive bound was true beside the bound.
  const bound = (keyword: string, strict: boolean): Bound | undefined => {
    const value = schema[keyword];
    if (value === undefined || (strict && typeof value === 'boolean')) return undefined;
    if ((typeof value !== 'number' || !Number.isFinite(value)) && typeof value !== 'bigint')
      refuse(`${at}/${keyword}`, 'a number is expected');
    // The exact value: 2^63 is not 9223372036854776000, which JavaScript shows.
    const exact =
      typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER ? wide(value) : value;
    return { value: decimalOf(exact), strict };
  };
  const step = schema.multipleOf;
  if (step !== undefined && !(typeof step === 'number' && step > 0 && Number.isFinite(step)))
    refuse(`${at}/multipleOf`, 'a number above 0 is expected');
  const range =
    typeof schema.format === 'string' && types?.has('integer')
      ? integerFormatRange(schema.format)
      : undefined;
  const inclusive = (value: bigint | undefined) =>
    value === undefined ? undefined : { value: decimalOf(value), strict: false };
  const lower = [
    shape.least,
    bound('minimum', schema.exclusiveMinimum === true),
    bound('exclusiveMinimum', true),
    inclusive(range?.least),
  ];
  const upper = [
    shape.most,
    bound('maximum', schema.exclusiveMaximum === true),
    bound('exclusiveMaximum', true),
    inclusive(range?.most),
  ];
  return {
    least: lower.reduce((one, other) => tighter(one, other, 1)),
    most: upper.reduce((one, other) => tighter(one, other, -1)),
    multiples: step === undefined ? shape.multiples : [...shape.multiples, step as number],
  };
}

function tighter(one: Bound | undefined, other: Bound | undefined, sign: number): Bound | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const order = compareDecimals(one.value, other.value) * sign;
  if (order !== 0) return order > 0 ? one : other;
  return one.strict ? one : other;
}

export function arrayShape(shape: Shape['array'], schema: Schema, at: string): Shape['array'] {
  // Before 2020, "items" was the prefix, too.
  const old = Array.isArray(schema.items);
  const prefix = old ? schema.items : (schema.prefixItems ?? []);
  const key = old ? 'items' : 'prefixItems';
  if (!Array.isArray(prefix)) refuse(`${at}/prefixItems`, 'an array of schemas is expected');
  const restKey = old ? 'additionalItems' : 'items';
  const rest = schema[restKey];
  const least = countAt(schema, 'minContains', at) ?? 1;
  const contains =
    schema.contains === undefined || least === 0
      ? []
      : [{ schema: schema.contains, at: `${at}/contains`, least }];
  const unevaluated =
    schema.unevaluatedItems === undefined
      ? undefined
      : { schema: schema.unevaluatedItems, at: `${at}/unevaluatedItems` };
  if (unevaluated !== undefined && schema.contains !== undefined)
    refuse(unevaluated.at, 'cannot be enforced beside contains');
  const part = {
    prefix: prefix.map((item, index) => ({ schema: item, at: `${at}/${key}/${index}` })),
    items: rest === undefined ? undefined : { schema: rest, at: `${at}/${restKey}` },
  };
  const unique = schema.uniqueItems === true ? `${at}/uniqueItems` : undefined;
  return {
    parts: part.prefix.length === 0 && part.items === undefined ? shape.parts : [...shape.parts, part],
    least: Math.max(shape.least, countAt(schema, 'minItems', at) ?? 0),
    most: Math.min(shape.most, countAt(schema, 'maxItems', at) ?? Number.POSITIVE_INFINITY),
    contains: [...shape.contains, ...contains],
    unique: shape.unique ?? unique,
    unevaluated: shape.unevaluated ?? unevaluated,
  };
}

export function objectShape(shape: Shape['object'], schema: Schema, at: string): Shape['object'] {
  const { additionalProperties: additional, propertyNames: names } = schema;
  const located = (keyword: string) => (name: string, value: unknown) =>
    ({ schema: value, at: `${at}/${keyword}/${escapePointer(name)}` }) as const;
  const properties = new Map(
    membersAt(schema, 'properties', at).map(([name, value]) => [name, located('properties')(name, value)]),
  );
  const patterns = membersAt(schema, 'patternProperties', at).map(([pattern, value]) => ({
    pattern,
    ...located('patternProperties')(pattern, value),
  }));
  const part = {
    properties,
    patterns,
    silent: (schema as Record<symbol, unknown>)[silent] === true,
    additional:
      additional === undefined ? undefined : { schema: additional, at: `${at}/additionalProperties` },
  };
  const isPart = properties.size + patterns.length > 0 || additional !== undefined;
  const without = (schema as Record<symbol, readonly string[]>)[absent] ?? [];
  return {
    parts: isPart ? [...shape.parts, part] : shape.parts,
    required: new Set([...shape.required, ...stringsAt(schema, 'required', at)]),
    forbidden: new Set([...shape.forbidden, ...without]),
    names: names === undefined ? shape.names : [...shape.names, { schema: names, at: `${at}/propertyNames` }],
    least: Math.max(shape.least, countAt(schema, 'minProperties', at) ?? 0),
    most: Math.min(shape.most, countAt(schema, 'maxProperties', at) ?? Number.POSITIVE_INFINITY),
    unevaluated:
      shape.unevaluated ??
      (schema.unevaluatedProperties === undefined
        ? undefined
        : { schema: schema.unevaluatedProperties, at: `${at}/unevaluatedProperties` }),
  };
}
