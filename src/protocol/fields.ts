import { z } from 'zod';
import { smallObject, stringArray } from '../base/schema/bounded.js';
import { asOfSchema } from './as-of.js';

/** Fields of several frames. */

const badId = { error: 'an integer from 0 to 2^53 - 1 or a string of 1 to 128 characters is expected' };

/** Chosen by the client; the reply carries it as `reply_to`. */
export const requestIdSchema = z.union(
  [z.int(badId).min(0, badId), z.string().min(1, badId).max(128, badId)],
  badId,
);

export type RequestId = z.output<typeof requestIdSchema>;

export const name = z.string().describe('Name of the storage.');
export const session_id = z.string().describe('Id of the session.');
export const storagePlace = z.string().describe('Name of the storage, or path of a knowledge base config.');
export const recordIds = (most: number) => stringArray({ most, shortest: 1, wellFormed: true });
export const as_of = asOfSchema
  .optional()
  .describe('A version, or the time of one: answers from what the storage had then. Default: the newest.');
export const recordCount = z.int().describe('Number of records.');
export const version = z.int().describe('Version of the storage. Each batch of changes makes the next one.');
export const agent_id = z.string().describe('Id of the agent.');
export const turn_id = z.string().describe('Id of the turn.');
/** Rendering a template copies the variables; this many take some milliseconds. */
const maxVariables = 20_000;
export const variables = smallObject(maxVariables).default({});

/** A frame of clients. Unknown fields are refused, so that a misspelt one is never silently ignored. */
export function request<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.strictObject({ type: z.literal(type), id: requestIdSchema, ...fields });
}

/** A frame that answers a request. */
export function reply<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  const reply_to = requestIdSchema.describe('Id of the request.');
  return z.object({ type: z.literal(type), reply_to, ...fields });
}

/** What a request or a turn was refused for. */
export const errorFields = {
  code: z.int().describe('Error code: docs/reference/errors.md.'),
  name: z.string().describe("The code's name."),
  message: z.string().describe('Names the field and the fix.'),
  details: z.record(z.string(), z.unknown()).describe('The same facts for programs.'),
};

export const keptNumber = z.int().describe('Number of the agent among the kept agents of its session.');
export const notKept = z
  .object(errorFields)
  .optional()
  .describe('In a session that is kept: why the history could not be kept. The next turn keeps all of it.');
