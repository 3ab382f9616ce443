import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { counted } from '../../base/schema/counted.js';
import type { Shown } from './describe.js';
import { chosenWritable } from './knowledge.js';
import { metadataSchema } from './metadata-schema.js';
import { longestArgument } from './read-tools.js';
import { recordUri } from './records.js';
import { tool } from './tool.js';

/** The storages that the client may change. */
const writable = (shown: Shown) => shown.filter((each) => each.writable);

const storage = z
  .string()
  .max(longestArgument)
  .optional()
  .describe('Name of the storage. Default: the only one that you may change.');

/** Longest text that a client may add, in characters. The model's context limits it further. */
const longestText = 100_000;

const remember = tool({
  name: 'remember',
  title: 'Remember',
  purpose: 'Adds a text as a new record, which search, get and ask then find. It changes no other record.',
  right: 'write',
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  lists: writable,
  input: (shown) =>
    z.object({
      text: z
        .string()
        .min(1)
        .max(longestText)
        .describe('The text: one fact, or a short passage that stands alone.'),
      id: z
        .string()
        .min(1)
        .max(500)
        .optional()
        .describe('Id of the record; one that exists is refused. Default: a new one.'),
      metadata: metadataSchema(writable(shown)),
      storage,
    }),
  output: z.object({
    storage: z.string().describe('Name of the storage.'),
    id: z.string().describe("The record's id."),
    uri: z.string().describe('Its address as a resource.'),
    records: z.int().describe('Number of records of the storage.'),
  }),
  async run(knowledge, { text, id = `memory-${randomUUID()}`, metadata, storage }) {
    const { name } = chosenWritable(knowledge, storage);
    const record = { id, text, ...(metadata !== undefined && { metadata }) };
    const fields = { name, add: [record] };
    const { record_count } = await knowledge.session.call('UpdateEmbeddedStringStorageRequest', fields);
    const data = { storage: name, id, uri: recordUri(name, id), records: record_count };
    return { data, text: `Remembered as ${data.uri}.` };
  },
});

const forget = tool({
  name: 'forget',
  title: 'Forget records',
  purpose:
    'Removes records for good, from the files of the storage, too. It cannot be undone; use it only if the user asks for it.',
  right: 'write',
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  lists: writable,
  input: () =>
    z.object({
      ids: z
        .array(z.string().min(1).max(10_000))
        .min(1)
        .max(50)
        .describe('Ids of records, as the other tools return them.'),
      storage,
    }),
  output: z.object({
    storage: z.string().describe('Name of the storage.'),
    forgotten: z.int().describe('Number of records that are gone.'),
    records: z.int().describe('Number of records of the storage.'),
  }),
  async run(knowledge, { ids, storage }) {
    const { name } = chosenWritable(knowledge, storage);
    const reply = await knowledge.session.call('ForgetEmbeddedStringStorageRequest', { name, ids });
    const data = { storage: name, forgotten: reply.forgotten, records: reply.record_count };
    return {
      data,
      text: `${counted(reply.forgotten, 'record')} forgotten; ${counted(reply.record_count, 'record')} left.`,
    };
  },
});

export const writeTools = [remember, forget] as const;
