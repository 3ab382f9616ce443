import { z } from 'zod';
import { isNetwork } from '../base/machine/address-list.js';
import { shownValue } from '../base/schema/messages.js';

/** Facts about a field besides its type, default, range and description. */
export interface FieldFacts {
  /** A path. In a file, relative ones start at the file's folder; built-in defaults at the package's folder. */
  path?: true;
  /** A path that the server writes to. A built-in default lies in the data folder, except in a checkout. */
  written?: true;
  /** Like `path`, for each folder in a list. */
  folders?: true;
  /** Like `path`, for each value of a map: the value itself, or its `config`. */
  namedPaths?: true;
  /** The command-line flag that overrides the file, as `--help` shows it. */
  flag?: string;
  /** The default in the documentation, if it depends on the machine. */
  computedDefault?: string;
  /** Ignored, with a warning if set. */
  deprecated?: true;
  /** An extension of lorekeep beyond its contract. */
  extension?: true;
}

export const fieldFacts = z.registry<FieldFacts>();

/** Returns the error message for a refused value: the allowed values, and the one found. */
function expected(what: string) {
  return { error: ({ input }: { input?: unknown }) => `${what} is expected, not ${shownValue(input)}` };
}

/** An integer in [min, max]. */
export function integer(min: number, max: number) {
  const message = expected(`an integer from ${min} to ${max}`);
  return z.int(message).min(min, message).max(max, message);
}

/** `"auto"`, or an integer in [min, max]. */
export function autoOrInteger(min: number, max: number) {
  const message = expected(`"auto" or an integer from ${min} to ${max}`);
  return z.union([z.literal('auto', message), z.int(message).min(min, message).max(max, message)], message);
}

export function choice<const Values extends readonly [string, ...string[]]>(...values: Values) {
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return z.enum(values, expected(`one of ${list}`));
}

export function boolean() {
  return z.boolean(expected('true or false'));
}

/** A text, which may be empty. */
export function text() {
  return z
    .string(expected('a string'))
    .refine((value) => !value.includes('\0'), expected('a string without NUL'));
}

export function nonEmptyText() {
  return text().min(1, expected('a string that is not empty'));
}

export function object<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    // Undefined: the reader of the issue reports unknown keys.
    error: (issue) =>
      issue.code === 'invalid_type' ? `an object is expected, not ${shownValue(issue.input)}` : undefined,
  });
}

/** One of the words, or a list of folders. */
export function foldersOr<const Words extends readonly [string, ...string[]]>(...words: Words) {
  const known = words.map((word) => JSON.stringify(word)).join(' or ');
  return z.union([z.enum(words), z.array(nonEmptyText())], expected(`${known} or a list of folders`));
}

export function list<Item extends z.ZodType>(item: Item) {
  return z.array(item, expected('an array'));
}

/** An object from names to values. A name is a letter or digit, then at most 63 letters, digits, `.`, `_` or `-`. */
export function map<Value extends z.ZodType>(value: Value) {
  const name = z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
      'a letter or digit, then at most 63 letters, digits, ".", "_" or "-" are expected',
    );
  return z.record(name, value, {
    error: (issue) => {
      if (issue.code === 'invalid_key') return issue.issues[0]?.message;
      return issue.code === 'invalid_type'
        ? `an object is expected, not ${shownValue(issue.input)}`
        : undefined;
    },
  });
}

/** An origin as browsers send it, or `null`. */
export function origin() {
  const isOrigin = (value: string) =>
    value === 'null' ||
    (/^https?:\/\//.test(value) && URL.canParse(value) && new URL(value).origin === value);
  return z
    .string(expected('a string'))
    .refine(isOrigin, expected('an origin such as "https://app.example", without a path,'));
}

/** An address, or a network of fewer than all addresses. */
export function network() {
  return z
    .string(expected('a string'))
    .refine(isNetwork, expected('an address, or a network such as "10.1.0.0/16",'));
}
