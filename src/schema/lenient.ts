import type { z } from 'zod';
import { describeIssue, type FieldIssue, fieldIssue } from './field-issue.js';

export type LenientResult<T> = { ok: true; value: T; warnings: string[] } | { ok: false; issue: FieldIssue };

/**
 * Parses a hand-written JSON value against a strict schema, where an unknown key is a warning (it may be a later
 * version's) and everything else an error.
 */
export function parseLenient<T>(schema: z.ZodType<T>, value: unknown): LenientResult<T> {
  const warnings: string[] = [];
  const rest = structuredClone(value);
  for (;;) {
    const parsed = schema.safeParse(rest);
    if (parsed.success) return { ok: true, value: parsed.data, warnings };
    const unknown = parsed.error.issues.find((issue) => issue.code === 'unrecognized_keys');
    if (unknown === undefined) return { ok: false, issue: fieldIssue(schema, rest, parsed.error) };
    const issue = fieldIssue(schema, rest, { ...parsed.error, issues: [unknown] } as z.core.$ZodError);
    warnings.push(describeIssue(issue));
    removeKey(rest, issue.keys);
  }
}

function removeKey(value: unknown, keys: readonly PropertyKey[]): void {
  let holder = value as Record<PropertyKey, unknown>;
  for (const key of keys.slice(0, -1)) holder = holder[key] as Record<PropertyKey, unknown>;
  delete holder[keys.at(-1) as PropertyKey];
}
