import { z } from 'zod';
import { shownValue } from './messages.js';

/** The most that a value may have at any depth, itself included. */
export interface ValueLimits {
  readonly values: number;
  /** Of strings and keys. */
  readonly characters?: number | undefined;
}

/**
 * An array whose length is checked before its items, and then its values if there are `limits`. A plain schema reports every
 * bad item, and a hostile array has millions.
 */
export function boundedArray<Item extends z.ZodType>(
  item: Item,
  min: number,
  max: number,
  limits?: ValueLimits,
) {
  const items = z.array(z.unknown()).min(min).max(max);
  if (limits === undefined) return items.pipe(z.array(item));
  const most = `at most ${limits.values} values${charactersText(limits.characters)}`;
  return items.refine(fitsIn(limits), `${most} are expected, and it has more`).pipe(z.array(item));
}

/**
 * An override of `z.toJSONSchema()` that documents the items of bounded arrays, whose input schema takes any. Needs
 * `io: 'input'`.
 */
export function documentItems(given: { zodSchema: z.core.$ZodTypes; jsonSchema: { items?: unknown } }): void {
  const { def } = given.zodSchema._zod;
  if (def.type !== 'pipe' || !(def.in instanceof z.ZodArray) || !(def.out instanceof z.ZodArray)) return;
  const options = { io: 'input', unrepresentable: 'any', override: documentItems } as const;
  const { $schema, ...items } = z.toJSONSchema(def.out.element as z.ZodType, options);
  given.jsonSchema.items = items;
}

/** Counts the values in a value, itself included, and the objects among them. Stops above `limit` values. */
export function countValues(value: unknown, limit: number): { values: number; objects: number } {
  const { values, objects } = count(value, { values: limit });
  return { values, objects };
}

/** An object of at most `values` values at any depth beside itself, passed through. */
export function smallObject(values: number, characters?: number) {
  const most = `at most ${values} values${charactersText(characters)}`;
  return anyObject().refine(
    fitsIn({ values: values + 1, characters }),
    `an object of ${most} is expected, and it has more`,
  );
}

function charactersText(characters: number | undefined): string {
  return characters === undefined ? '' : ` with ${characters} characters`;
}

function fitsIn(limits: ValueLimits): (value: object) => boolean {
  const { values, characters = Number.POSITIVE_INFINITY } = limits;
  return (value) => {
    const counted = count(value, limits);
    return counted.values <= values && counted.characters <= characters;
  };
}

/** Stops above the limits. */
function count(
  value: unknown,
  { values: mostValues, characters: mostCharacters = Number.POSITIVE_INFINITY }: ValueLimits,
): { values: number; objects: number; characters: number } {
  const counted = { values: 0, objects: 0, characters: 0 };
  const isOver = () => counted.values > mostValues || counted.characters > mostCharacters;
  const add = (part: unknown) => {
    counted.values++;
    if (typeof part === 'string') counted.characters += part.length;
    if (typeof part !== 'object' || part === null) return;
    if (Array.isArray(part)) {
      for (const item of part) {
        if (isOver()) return;
        add(item);
      }
      return;
    }
    counted.objects++;
    for (const key in part) {
      if (isOver()) return;
      counted.characters += key.length;
      add((part as Record<string, unknown>)[key]);
    }
  };
  add(value);
  return counted;
}

/** An object with any fields, passed through. A record schema would copy each field, and a hostile object has millions. */
export function anyObject() {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  return z
    .custom<Record<string, unknown>>(isObject, {
      error: ({ input }) => `an object is expected, not ${shownValue(input)}`,
    })
    .meta({ type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} });
}

/** Any number of strings. Only the first item that is not a string is reported. */
export function stringArray() {
  const documented = z.custom<string[]>().meta({ type: 'array', items: { type: 'string' } });
  return documented.check((context) => {
    const { value } = context;
    if (!Array.isArray(value)) {
      context.issues.push({ code: 'custom', message: 'an array of strings is expected', input: value });
      return;
    }
    const index = value.findIndex((item) => typeof item !== 'string');
    if (index < 0) return;
    context.issues.push({
      code: 'custom',
      message: 'a string is expected',
      path: [index],
      input: value[index],
    });
  });
}
