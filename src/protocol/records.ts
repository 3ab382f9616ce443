import { z } from 'zod';
import { listWith, type Mistake } from '../base/schema/bounded.js';
import { shownValue } from '../base/schema/messages.js';
import { didYouMean, nearestName } from '../base/schema/nearest.js';
import { hitFields } from './retrieval.js';

/** A record of a request. */
export interface WireRecord {
  readonly id: string;
  readonly text: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Maximum number of records in one request: they stay in memory, and one frame carries them. */
export const maxRecords = 100_000;

const keys = ['id', 'text', 'metadata'];

const docs = {
  type: 'array' as const,
  maxItems: maxRecords,
  items: {
    type: 'object' as const,
    properties: {
      id: { type: 'string' as const, minLength: 1 },
      text: { type: 'string' as const, minLength: 1 },
      metadata: { type: 'object' as const },
    },
    required: ['id', 'text'],
    additionalProperties: false,
  },
};

/** Records with ids of the client's, and with metadata for the storage's fields. Only the first mistake is reported. */
export function recordArray() {
  return listWith(firstMistake, docs) as unknown as z.ZodType<WireRecord[], WireRecord[]>;
}

function firstMistake(records: readonly unknown[]): Mistake | undefined {
  if (records.length > maxRecords)
    return { message: `at most ${maxRecords} records are expected, not ${records.length}` };
  for (const [index, record] of records.entries()) {
    const mistake = mistakeIn(record);
    if (mistake !== undefined) return { ...mistake, path: [index, ...(mistake.path ?? [])] };
  }
  return undefined;
}

function mistakeIn(record: unknown): Mistake | undefined {
  if (!isObject(record)) return { message: `an object is expected, not ${shownValue(record)}` };
  for (const key in record) {
    if (!keys.includes(key))
      return { message: `is not a field of records${didYouMean(nearestName(key, keys))}`, path: [key] };
  }
  for (const key of ['id', 'text']) {
    const value = record[key];
    if (value === undefined) return { message: 'is missing', path: [key] };
    if (typeof value !== 'string' || value === '')
      return { message: 'a text of at least one character is expected', path: [key] };
  }
  const { metadata } = record;
  if (metadata === undefined || isObject(metadata)) return undefined;
  return { message: `an object is expected, not ${shownValue(metadata)}`, path: ['metadata'] };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A record of a reply. */
export const storedRecordSchema = z.object({
  id: z.string().describe("The record's id."),
  text: z.string().describe('Its text.'),
  metadata: hitFields.metadata,
});

export type StoredWireRecord = z.output<typeof storedRecordSchema>;
