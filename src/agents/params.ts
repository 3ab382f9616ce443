import type { z } from 'zod';
import { fieldIssue } from '../base/schema/field-issue.js';
import { plainMessage } from '../base/schema/messages.js';
import { fail } from '../protocol/errors.js';

/** Returns the params of one node, with defaults. @throws UnknownParam, InvalidParam with the path in the graph */
export function parseParams<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
  where: string,
): z.output<Schema> {
  const parsed = schema.safeParse(params, { error: plainMessage });
  if (parsed.success) return parsed.data;
  const issue = fieldIssue(schema, params, parsed.error);
  const path = `${where}.params.${issue.path}`;
  const details = issue.nearest === undefined ? { path } : { path, nearest: issue.nearest };
  fail(issue.kind === 'unknown' ? 4002 : 4003, `${path}: ${issue.message}`, details);
}
