import { z } from 'zod';
import { shownValue } from './messages.js';
import { wellFormed } from './well-formed.js';

/** The most that a value may have at any depth, itself included. */
export interface ValueLimits {
  readonly values: number;
  /** Maximum length of strings and keys. */
  readonly characters?: number | undefined;
}

/**
 * An array whose length is checked before its items, and then its values if there are `limits`. A plain schema copies every item
 * and reports every bad one, and a hostile array has millions: the first bad item is the only one reported.
 */
export function boundedArray<Item extends z.ZodType>(
  item: Item,
  min: number,
  max: number,
  limits?: ValueLimits,
) {
  return arrayOfLength(min, max, item, { limits }).pipe(untilMistake(item));
}

/** An array that is parsed up to its first bad item. */
function untilMistake<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  const array = z.array(item);
  array._zod.run = (payload, context) => {
    const parsed: unknown[] = [];
    for (const [index, value] of (payload.value as unknown[]).entries()) {
      const result = item._zod.run({ value, issues: [] }, context) as z.core.ParsePayload;
      if (result.issues.length > 0) {
        payload.issues.push(...z.core.util.prefixIssues(index, result.issues));
        return payload;
      }
      parsed.push(result.value);
    }
    payload.value = parsed;
    return payload;
  };
  return array;
}

/**
 * An array whose items a caller checks in slices: thousands of valid items take too long for one. Its description is given here:
 * describe() makes another schema, which documentItems() would not know.
 */
export function uncheckedArray(item: z.ZodType, min: number, max: number, description?: string) {
  return arrayOfLength(min, max, item, { description });
}

const itemsInDocs = new WeakMap<z.core.$ZodType, z.ZodType>();

/** An array of `min` to `max` items of any kind, which is passed through without a look at them. `item` documents them. */
function arrayOfLength(
  min: number,
  max: number,
  item: z.ZodType,
  { limits, description }: { limits?: ValueLimits | undefined; description?: string | undefined },
) {
  const find = (value: readonly unknown[]): z.core.$ZodRawIssue | undefined => {
    const found = { input: value, inclusive: true, origin: 'array' } as const;
    if (value.length < min) return { ...found, code: 'too_small', minimum: min };
    if (value.length > max) return { ...found, code: 'too_big', maximum: max };
    if (limits === undefined || fitsIn(limits)(value)) return undefined;
    const most = `at most ${limits.values} values${charactersText(limits.characters)}`;
    return { code: 'custom', input: value, message: `${most} are expected, and it has more` };
  };
  const array = passedArray(find, {
    ...{ type: 'array', items: {}, minItems: min, maxItems: max },
    ...(description !== undefined && { description }),
  });
  itemsInDocs.set(array, item);
  return array;
}

/** Any array, passed through unless `find` returns an issue. */
function passedArray(find: Find<readonly unknown[]>, docs: ArrayDocs) {
  return passed<unknown[]>(Array.isArray, find, docs);
}

type ArrayDocs = z.core.GlobalMeta & { type: 'array' };
type Find<Value> = (value: Value) => z.core.$ZodRawIssue | undefined;

/** Values of a kind that `docs` names, passed through unless `find` returns an issue. */
function passed<Value>(
  is: (value: unknown) => value is Value,
  find: Find<Value>,
  docs: z.core.GlobalMeta & { type: 'array' | 'object' },
): z.ZodType<Value, Value> {
  const otherKind = (input: unknown): z.core.$ZodRawIssue => ({
    ...{ code: 'invalid_type', expected: docs.type, input },
    message: `an ${docs.type} is expected, not ${shownValue(input)}`,
  });
  const schema = z.unknown().check(({ value, issues }) => {
    const issue = is(value) ? find(value) : otherKind(value);
    if (issue !== undefined) issues.push({ ...issue, continue: false });
  });
  return schema.meta(docs) as z.ZodType<Value, Value>;
}

/**
 * An override of `z.toJSONSchema()` that documents the items of bounded and unchecked arrays, whose input schema takes any. Needs
 * `io: 'input'`.
 */
export function documentItems(given: { zodSchema: z.core.$ZodTypes; jsonSchema: { items?: unknown } }): void {
  const item = itemsInDocs.get(given.zodSchema);
  if (item === undefined) return;
  const options = { io: 'input', unrepresentable: 'any', override: documentItems } as const;
  const { $schema, ...items } = z.toJSONSchema(item, options);
  given.jsonSchema.items = items;
}

/**
 * Counts the values in a value, itself included, the objects among them, and the characters of its strings and keys. Stops
 * above `values` values or `characters`.
 */
export function countValues(value: unknown, values: number, characters?: number): Counted {
  return count(value, { values, characters });
}

/** An object with at most `values` values at any depth, not counting itself. It is passed through. */
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

interface Counted {
  values: number;
  objects: number;
  characters: number;
}

/** Stops above the limits. */
function count(
  value: unknown,
  { values: maxValues, characters: maxCharacters = Number.POSITIVE_INFINITY }: ValueLimits,
): Counted {
  const counted = { values: 0, objects: 0, characters: 0 };
  const isOver = () => counted.values > maxValues || counted.characters > maxCharacters;
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
  return passed(isObject, () => undefined, anyFields);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const anyFields = { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} } as const;

/** An object of at most `most` values, which are counted before they are looked at. */
export function boundedRecord<Value extends z.ZodType>(value: Value, most: number) {
  const { $schema, ...additionalProperties } = z.toJSONSchema(value, { io: 'input' });
  const find = (input: object): z.core.$ZodRawIssue | undefined =>
    Object.keys(input).length > most
      ? { code: 'custom', input, message: `at most ${most} fields are expected` }
      : undefined;
  return passed(isObject, find, { ...anyFields, additionalProperties }).pipe(z.record(z.string(), value));
}

/** Bounds of an array of strings. */
export interface StringBounds {
  /** Maximum number of strings. */
  readonly most?: number;
  /** Fewest and most characters of each. */
  readonly shortest?: number;
  readonly longest?: number;
  /** Whether half of a surrogate pair, which UTF-8 cannot represent, is a mistake. */
  readonly wellFormed?: true;
}

/** Strings. Only the first mistake is reported: a hostile array has millions. */
export function stringArray(bounds: StringBounds = {}) {
  return listWith((value) => mistakeIn(value, bounds), stringsInDocs(bounds)) as unknown as Strings<string>;
}

/** Arrays of strings, at most `most` of them, with as many strings in all as `bounds` says. Only the first mistake is reported. */
export function stringArrays(most: number, bounds: StringBounds & { readonly most: number }) {
  const find = (groups: readonly unknown[]): Mistake | undefined => {
    if (groups.length > most) return { message: `an array of at most ${most} is expected` };
    let strings = 0;
    for (const [index, group] of groups.entries()) {
      const mistake = mistakeIn(group, bounds);
      if (mistake !== undefined) return { ...mistake, path: [index, ...(mistake.path ?? [])] };
      strings += (group as string[]).length;
      if (strings > bounds.most) return { message: `at most ${bounds.most} strings in all are expected` };
    }
    return undefined;
  };
  const docs = { type: 'array' as const, items: stringsInDocs(bounds), maxItems: most };
  return listWith(find, docs) as unknown as Strings<string[]>;
}

type Strings<Item> = z.ZodType<Item[], Item[]>;

/** Returns a schema of an array that reports only its first mistake. `docs`: its JSON Schema. */
export function listWith(find: (value: readonly unknown[]) => Mistake | undefined, docs: ArrayDocs) {
  return passedArray((value) => {
    const mistake = find(value);
    return mistake && { code: 'custom', input: value, ...mistake };
  }, docs);
}

/** A mistake in an array: where, from the array on, and what is expected. */
export interface Mistake {
  message: string;
  path?: (string | number)[];
}

function mistakeIn(value: unknown, bounds: StringBounds): Mistake | undefined {
  const { most = Number.POSITIVE_INFINITY, shortest = 0, longest = Number.POSITIVE_INFINITY } = bounds;
  if (!Array.isArray(value)) return { message: 'an array of strings is expected' };
  if (value.length > most)
    return { message: `an array of at most ${most} is expected, not an array of ${value.length}` };
  const index = value.findIndex(
    (item) => typeof item !== 'string' || item.length < shortest || item.length > longest,
  );
  if (index < 0) {
    const half = bounds.wellFormed ? value.findIndex((item) => !wellFormed(item)) : -1;
    return half < 0 ? undefined : { message: 'half of a surrogate pair is no character', path: [half] };
  }
  const length = Number.isFinite(longest) ? ` of ${shortest} to ${longest} characters` : '';
  return { message: `a string${length} is expected`, path: [index] };
}

function stringsInDocs({ most, shortest, longest }: StringBounds) {
  const items = {
    type: 'string' as const,
    ...(shortest !== undefined && { minLength: shortest }),
    ...(longest !== undefined && { maxLength: longest }),
  };
  return { type: 'array' as const, items, ...(most !== undefined && { maxItems: most }) };
}
