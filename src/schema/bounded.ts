import { z } from 'zod';

/**
 * An array whose length is checked before its items are: a schema reports every bad item, and a hostile array has
 * millions.
 */
export function boundedArray<Item extends z.ZodType>(item: Item, min: number, max: number) {
  return z.array(z.unknown()).min(min).max(max).pipe(z.array(item));
}

/** Any number of strings; only the first item that is not one is reported. */
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
