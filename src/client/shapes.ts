import type { z } from 'zod';
import { requestSchemas, serverSchemas } from '../agents/wire/frames.js';
import type { RequestType } from '../protocol/frames.js';

/**
 * The fields of a value, as far as their names are the protocol's: an object, an array, or a union that a field decides. null: no
 * field below is to be renamed. Plain data, so that the bundle for browsers has it without the schemas.
 */
export type Shape =
  | { readonly fields: Readonly<Record<string, Shape>> }
  | { readonly items: Shape }
  | { readonly by: string; readonly options: Readonly<Record<string, Shape>> }
  | null;

const shapes = new WeakMap<z.core.$ZodType, { shape: Shape }>();

export const requestShape = (type: RequestType): Shape => shapeOf(requestSchemas[type]);

/** null for a frame that this client does not know. */
export function serverShape(type: string): Shape {
  const schema = (serverSchemas as Record<string, z.ZodType>)[type];
  return schema === undefined ? null : shapeOf(schema);
}

/** The shapes of all frames. */
export const allShapes = () => ({
  requests: mapped(requestSchemas, shapeOf),
  frames: mapped(serverSchemas, shapeOf),
});

function mapped<Value>(values: Readonly<Record<string, Value>>, convert: (value: Value) => Shape) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]));
}

function shapeOf(schema: z.core.$ZodType): Shape {
  const known = shapes.get(schema);
  if (known !== undefined) return known.shape;
  const shape = makeShape(schema);
  shapes.set(schema, { shape });
  return shape;
}

function makeShape(schema: z.core.$ZodType): Shape {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') return { fields: mapped(def.shape, shapeOf) };
  if (def.type === 'array') {
    const items = shapeOf(def.element);
    return items === null ? null : { items };
  }
  if (def.type === 'union') return unionShape(def as z.core.$ZodDiscriminatedUnionDef);
  if (def.type === 'pipe') return shapeOf(def.out);
  return 'innerType' in def ? shapeOf(def.innerType as z.core.$ZodType) : null;
}

/** Only discriminated unions determine a value's schema. */
function unionShape({ options, discriminator }: z.core.$ZodDiscriminatedUnionDef): Shape {
  if (discriminator === undefined) return null;
  const entries = options.flatMap((option) =>
    [...(option._zod.propValues?.[discriminator] ?? [])].map(
      (value) => [String(value), shapeOf(option)] as const,
    ),
  );
  return { by: discriminator, options: Object.fromEntries(entries) };
}
