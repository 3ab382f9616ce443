import { z } from 'zod';
import { type FieldFacts, fieldFacts } from './field-types.js';
import { configSchema } from './schema.js';

/** A leaf field of server-config.json. */
export interface ConfigField {
  /** `["monitor", "port"]`; fields of an array's items have `[]` after the array's name. */
  readonly keys: readonly string[];
  /** `monitor.port` */
  readonly path: string;
  readonly schema: z.ZodType;
  readonly facts: Readonly<FieldFacts>;
}

/** Every field, in the schema's order. */
export const configFields: readonly ConfigField[] = [...walk(configSchema, [])];

function* walk(schema: z.ZodObject, above: readonly string[]): Generator<ConfigField> {
  for (const [key, field] of Object.entries(schema.shape) as [string, z.ZodType][]) {
    const keys = [...above, key];
    const inner = withoutDefault(field);
    if (inner instanceof z.ZodObject) {
      yield* walk(inner, keys);
      continue;
    }
    yield { keys, path: keys.join('.'), schema: field, facts: fieldFacts.get(field) ?? {} };
    if (inner instanceof z.ZodArray && inner.element instanceof z.ZodObject) {
      yield* walk(inner.element, [...above, `${key}[]`]);
    }
  }
}

function withoutDefault(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return withoutDefault(schema.def.innerType as z.ZodType);
  }
  return schema;
}

/** Sets a value, creating the objects on its path. Precondition: existing values on the path are objects. */
export function setValue(root: object, keys: readonly string[], value: unknown): void {
  let holder = root as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) {
    if (!Object.hasOwn(holder, key)) holder[key] = {};
    holder = holder[key] as Record<string, unknown>;
  }
  holder[keys.at(-1) as string] = value;
}
