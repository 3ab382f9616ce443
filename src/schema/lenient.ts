import type { z } from 'zod';
import { describeIssue, type FieldIssue, fieldIssue } from './field-issue.js';
import { plainMessage } from './messages.js';

export type LenientResult<T> = {
  /** One sentence per key that has no effect. */
  warnings: string[];
  /** The unknown keys behind the warnings. */
  ignored: FieldIssue[];
} & (
  | { ok: true; value: T }
  /** `issue` is the first of `issues`. */
  | { ok: false; issue: FieldIssue; issues: FieldIssue[] }
);

/** Unknown keys that are reported one by one. */
const reportedKeys = 100;

/**
 * Parses a hand-written JSON value against a strict schema, where an unknown key is a warning (it may be a later
 * version's) and everything else an error.
 */
export function parseLenient<T>(schema: z.ZodType<T>, value: unknown): LenientResult<T> {
  const ignored: FieldIssue[] = [];
  const rest = structuredClone(value);
  for (;;) {
    const parsed = schema.safeParse(rest, { error: plainMessage });
    const warnings = ignored.slice(0, reportedKeys).map(describeIssue);
    if (parsed.success) return { ok: true, value: parsed.data, warnings, ignored };
    const { error } = parsed;
    const issueOf = (issue: z.core.$ZodIssue) =>
      fieldIssue(schema, rest, { ...error, issues: [issue] } as z.core.$ZodError);
    const unknown = error.issues.filter((issue) => issue.code === 'unrecognized_keys');
    if (unknown.length === 0) {
      const issues = onePerField(error.issues.map(issueOf));
      return { ok: false, issue: issues[0] as FieldIssue, issues, warnings, ignored };
    }
    const found = unknown.flatMap((issue) => issue.keys.map((key) => issueOf({ ...issue, keys: [key] })));
    for (const issue of found) removeKey(rest, issue.keys);
    ignored.push(...found);
  }
}

/** A value that breaks two rules, such as a number that is too large and no safe integer, is one mistake. */
function onePerField(issues: readonly FieldIssue[]): FieldIssue[] {
  const seen = new Set<string>();
  return issues.filter(({ keys }) => {
    const field = keys.map(String).join('\0');
    const isFirst = !seen.has(field);
    seen.add(field);
    return isFirst;
  });
}

function removeKey(value: unknown, keys: readonly PropertyKey[]): void {
  let holder = value as Record<PropertyKey, unknown>;
  for (const key of keys.slice(0, -1)) holder = holder[key] as Record<PropertyKey, unknown>;
  delete holder[keys.at(-1) as PropertyKey];
}
