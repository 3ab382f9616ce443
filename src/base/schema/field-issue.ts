import { z } from 'zod';
import { fieldPath } from './field-path.js';
import { didYouMean, nearestName } from './nearest.js';

/** A mistake in one field of a value that a zod schema refused. */
export interface FieldIssue {
  kind: 'unknown' | 'missing' | 'invalid';
  /** For example `graph.nodes[0].id`; empty for the value itself. */
  path: string;
  keys: PropertyKey[];
  /** A sentence without the path. */
  message: string;
  nearest?: string;
}

/** The first issue of a value that `schema` refused, in terms of its fields. */
export function fieldIssue(schema: z.core.$ZodType, value: unknown, error: z.core.$ZodError): FieldIssue {
  const issue = error.issues[0] as z.core.$ZodIssue;
  if (issue.code === 'unrecognized_keys') return unknownField(schema, issue);
  const keys = [...issue.path];
  const path = fieldPath(keys);
  if (valueAt(value, keys) === undefined) return { kind: 'missing', path, keys, message: 'is missing' };
  return { kind: 'invalid', path, keys, message: lowerFirst(issue.message) };
}

/** Formats an issue for a message: `graph.nodes[0]: is missing`. */
export function describeIssue({ path, message }: FieldIssue): string {
  return path === '' ? message : `${path}: ${message}`;
}

function unknownField(schema: z.core.$ZodType, issue: z.core.$ZodIssueUnrecognizedKeys): FieldIssue {
  const name = issue.keys[0] ?? '';
  const keys = [...issue.path, name];
  const known = Object.keys(objectShape(schemaAt(schema, issue.path)) ?? {});
  const nearest = nearestName(name, known);
  const message = `is not a known field${didYouMean(nearest)}`;
  const found: FieldIssue = { kind: 'unknown', path: fieldPath(keys), keys, message };
  return nearest === undefined ? found : { ...found, nearest };
}

/** The value at `keys`, or undefined. */
export function valueAt(value: unknown, keys: readonly PropertyKey[]): unknown {
  let at = value;
  for (const key of keys) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at;
}

function schemaAt(schema: z.core.$ZodType, keys: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = schema;
  for (const key of keys) {
    const inner: z.core.$ZodType | undefined = at && unwrap(at);
    if (inner instanceof z.ZodArray) at = inner.element;
    else if (inner instanceof z.ZodRecord) at = inner.valueType;
    else at = objectShape(inner)?.[String(key)];
  }
  return at;
}

function objectShape(
  schema: z.core.$ZodType | undefined,
): Readonly<Record<string, z.core.$ZodType>> | undefined {
  const inner = schema && unwrap(schema);
  return inner instanceof z.ZodObject ? inner.shape : undefined;
}

/** Unwraps optional, default, nullable and pipe. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable
  ) {
    return unwrap(schema.def.innerType);
  }
  if (!(schema instanceof z.ZodPipe)) return schema;
  const { in: before, out: after } = schema.def;
  return unwrap(after instanceof z.ZodTransform ? before : after);
}

export function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
