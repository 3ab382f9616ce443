import type { z } from 'zod';
import { describeIssue, type FieldIssue, fieldIssue } from './field-issue.js';
import { plainMessage } from './messages.js';

export type LenientResult<T> = {
  /** One sentence per key without effect. */
  warnings: string[];
  /** The unknown keys behind the warnings. */
  ignored: FieldIssue[];
} & (
  | { ok: true; value: T }
  /** `issue` is the first one. */
  | { ok: false; issue: FieldIssue; issues: FieldIssue[] }
);

/** Number of unknown keys reported individually. */
const reportedKeys = 100;

/**
 * Parses a hand-written JSON value against a strict schema. An unknown key is a warning, because it may belong to a later
 * version; everything else is an error.
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

/** Reports one mistake for a value that breaks two rules, such as a number that is too large and not a safe integer. */
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
