import { z } from 'zod';
import { shownValue } from '../schema/messages.js';

/** What is known of a field beside its type, default, range and description. */
export interface FieldFacts {
  /** Relative values of the file start at the file's folder, built-in defaults at the folder of the package. */
  path?: true;
  /** As `path`, for each folder of a list. */
  folders?: true;
  /** The command-line flag that beats the file, as `--help` shows it. */
  flag?: string;
  /** What the field belongs to, when this version lacks it: the field is checked and has no effect. */
  later?: string;
  /** With `later`: values that say what this version does anyway. */
  holdsFor?: readonly unknown[];
  /** How documentation shows a default that depends on the machine. */
  computedDefault?: string;
  /** Ignored, with a warning when it is set. */
  deprecated?: true;
  /** Not in lorekeep's contract but its own. */
  extension?: true;
}

export const fieldFacts = z.registry<FieldFacts>();

/** The message of a refused value: what is allowed, and what was found. */
function expected(what: string) {
  return { error: ({ input }: { input?: unknown }) => `${what} is expected, not ${shownValue(input)}` };
}

/** Both ends included. */
export function integer(min: number, max: number) {
  const message = expected(`an integer from ${min} to ${max}`);
  return z.int(message).min(min, message).max(max, message);
}

export function choice<const Values extends readonly [string, ...string[]]>(...values: Values) {
  const list = values.map((value) => JSON.stringify(value)).join(', ');
  return z.enum(values, expected(`one of ${list}`));
}

export function boolean() {
  return z.boolean(expected('true or false'));
}

/** May be empty. */
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
    // Undefined leaves an unknown key to whoever reads the issue.
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
