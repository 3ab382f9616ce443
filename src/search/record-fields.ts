import { z } from 'zod';
import { boundedArray, stringArray } from '../base/schema/bounded.js';
import { wellFormed } from '../base/schema/well-formed.js';
import { fieldConditions } from './field-conditions.js';
import { coerceDefault, expectedDefault, isoPatterns } from './field-default.js';

const fieldTypes = ['int', 'float', 'string', 'bool', 'set<string>'] as const;

const text = () =>
  z.string().min(1).refine(wellFormed, { error: 'half of a surrogate pair is no character' });

const fieldSchema = z
  .strictObject({
    name: text().describe('The key in records, and what filters call the field.'),
    type: z.enum(fieldTypes),
    format: z
      .enum(['date', 'date-time'])
      .optional()
      .describe(
        'Of an int field: its values are dates, and records and filters may write them as ISO 8601 texts. date: days since 1970-01-01, as in "2024-05-31". date-time: milliseconds since 1970 in UTC, as in "2024-05-31T12:00:00Z".',
      ),
    default: z
      .union([z.number(), z.string(), z.boolean(), stringArray()], {
        error: 'a number, a string, true, false or an array of strings is expected',
      })
      .optional()
      .describe(
        'Value of records that omit the field: of its type, or what says the same in other words, such as "5" of an int. Exactly one of default and optional is needed.',
      ),
    optional: z.boolean().optional().describe('true: records may omit the field.'),
    filterable: z.boolean().default(true).describe('false: shown with hits, but no filter may name it.'),
  })
  .refine((field) => (field.default !== undefined) !== (field.optional === true), {
    error: 'exactly one of "default" and "optional": true is expected',
  })
  .refine((field) => field.format === undefined || field.type === 'int', {
    path: ['format'],
    error: 'only a field of type int has a format',
  })
  .meta(fieldConditions)
  .transform(({ default: written, ...field }, context) => {
    if (written === undefined) return field;
    if (
      field.format !== undefined &&
      typeof written === 'string' &&
      isoPatterns[field.format].test(written)
    ) {
      return { ...field, default: written };
    }
    const value = coerceDefault(written, field.type);
    if (value !== undefined) return { ...field, default: value };
    const message = `${expectedDefault[field.type]} is expected, because the type is ${field.type}`;
    context.addIssue({ code: 'custom', path: ['default'], message });
    return z.NEVER;
  });

/** Names are unique; the second of a pair is the wrong one. */
function uniqueNames(fields: readonly { name: string }[], context: z.RefinementCtx): void {
  const first = new Map<string, number>();
  for (const [position, { name }] of fields.entries()) {
    const other = first.get(name);
    if (other === undefined) {
      first.set(name, position);
      continue;
    }
    const message = `${JSON.stringify(name)} is the name of fields[${other}] already`;
    context.addIssue({ code: 'custom', path: [position, 'name'], message });
  }
}

const mostFields = 1024;

/** The typed metadata fields of records, in configs. */
export const recordFieldsSchema = z.array(fieldSchema).max(mostFields).superRefine(uniqueNames);

/** The same in requests: their number is checked first. */
export const requestFieldsSchema = boundedArray(fieldSchema, 0, mostFields).superRefine(uniqueNames);
