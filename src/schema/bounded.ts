import { z } from 'zod';
import { shownValue } from './messages.js';

/**
 * An array whose length is checked before its items. A plain schema reports every bad item, and a hostile array has
 * millions.
 */
export function boundedArray<Item extends z.ZodType>(item: Item, min: number, max: number) {
  return z.array(z.unknown()).min(min).max(max).pipe(z.array(item));
}

/** Counts the values in a value, itself included, and the objects among them. Stops above `limit` values. */
export function countValues(value: unknown, limit: number): { values: number; objects: number } {
  const counted = { values: 0, objects: 0 };
  const count = (part: unknown) => {
    counted.values++;
    if (typeof part !== 'object' || part === null) return;
    if (!Array.isArray(part)) counted.objects++;
    for (const inner of Object.values(part)) {
      if (counted.values > limit) return;
      count(inner);
    }
  };
  count(value);
  return counted;
}

/** An object of at most `limit` values at any depth, passed through. */
export function smallObject(limit: number) {
  const few = (value: object) => countValues(value, limit + 1).values <= limit + 1;
  return anyObject().refine(few, `an object of at most ${limit} values is expected, and it has more`);
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
