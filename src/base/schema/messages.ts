import type { z } from 'zod';

/** Characters of a refused value shown in a message. */
const longestShown = 60;

/**
 * Names the expected and the found value in JSON's terms. Use it as `safeParse(value, { error: plainMessage })`; messages
 * of the schema itself take precedence.
 */
export function plainMessage(issue: z.core.$ZodRawIssue): string | undefined {
  const expected = expectation(issue);
  return expected === undefined ? undefined : `${expected} is expected, not ${shownValue(issue.input)}`;
}

/** A value for a message: strings, numbers and booleans as they are, others by their kind. */
export function shownValue(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  // JSON has no infinity, but JSON.parse reads 1e400 as one.
  if (typeof value === 'bigint' || value === Infinity || value === -Infinity) return String(value);
  const text = JSON.stringify(typeof value === 'string' ? value.slice(0, longestShown) : value) ?? 'nothing';
  return typeof value === 'string' && value.length > longestShown ? `${text}…` : text;
}

/** Number of mistakes listed in a message. */
export const maxListed = 20;

/** One line for each of the first `maxListed` items, and one with the number of the rest. */
export function listed<Item>(items: readonly Item[], line: (item: Item) => string): string[] {
  const lines = items.slice(0, maxListed).map(line);
  if (items.length > maxListed) lines.push(`and ${items.length - maxListed} more`);
  return lines;
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  tuple: 'an array',
  object: 'an object',
  record: 'an object',
};

function expectation(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return kinds[issue.expected as string];
    case 'invalid_value':
      return oneOf((issue.values as unknown[]).map((value) => JSON.stringify(value)));
    case 'too_small':
      return sized(
        issue.origin as string,
        issue.inclusive === false ? 'more than' : 'at least',
        Number(issue.minimum),
      );
    case 'too_big':
      return sized(
        issue.origin as string,
        issue.inclusive === false ? 'less than' : 'at most',
        Number(issue.maximum),
      );
    default:
      return undefined;
  }
}

const oneOf = (values: readonly string[]) =>
  values.length === 1 ? values[0] : `one of ${values.join(', ')}`;

function sized(origin: string, bound: string, limit: number): string | undefined {
  if (origin === 'string') return `a string of ${bound} ${limit} ${limit === 1 ? 'character' : 'characters'}`;
  if (origin === 'array') return `an array of ${bound} ${limit}`;
  const of = bound.startsWith('at') ? 'of ' : '';
  return origin === 'number' || origin === 'int' ? `a number ${of}${bound} ${limit}` : undefined;
}
