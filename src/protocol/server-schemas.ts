import { z } from 'zod';
import {
  agent_id,
  errorFields,
  keptNumber,
  notKept,
  recordCount,
  reply,
  requestIdSchema,
  session_id,
  version,
} from './fields.js';
import { historySchema } from './history.js';
import { openedMemorySchema, quotingHistories } from './memories.js';
import { modelSchemas } from './model-frames.js';
import { storedRecordSchema } from './records.js';
import { hitSchema, retrievalPlanSchema, staleMark } from './retrieval.js';
import { speechSchemas } from './speech-frames.js';
import { turnSchemas } from './turn-frames.js';
import { protocolVersion } from './version.js';

const budgetSchema = z.object({
  held: z.int().describe('Bytes of connections, sessions, storages, agents and turns.'),
  held_limit: z.int().describe('Limit of `held`, in bytes.'),
  passing: z.int().describe('Bytes of received data, requests, results and unread replies.'),
  passing_limit: z.int().describe('Limit of `passing`, in bytes.'),
  heap: z.int().describe("Bytes of both in V8's heap."),
  heap_limit: z.int().describe('Limit of `heap`, in bytes.'),
  by_kind: z.record(z.string(), z.int()).describe('Bytes by kind.'),
});

export type BudgetStatus = z.output<typeof budgetSchema>;

const statusFields = {
  connections: z.int().describe('Connections of the server.'),
  connections_limit: z.int().describe('Maximum number of connections of the server.'),
  sessions: z.int().describe('Sessions of this connection.'),
  sessions_limit: z.int().describe('Maximum number of sessions of one connection.'),
  throttle: z.number().describe('The highest throttle level of all clients, 0 to 1.'),
  client: budgetSchema.describe("This client's memory budget."),
  server: budgetSchema.describe('The memory budget of all clients together.'),
};

/** Frames of the server. A client ignores fields and types that it does not know. */
export const serverSchemas = {
  Hello: z.object({
    type: z.literal('Hello'),
    protocol: z.literal(protocolVersion).describe('Version of the protocol.'),
    server: z.literal('lorekeep'),
    version: z.string().describe("The server's version."),
  }),
  CreateSessionResponse: reply('CreateSessionResponse', {
    session_id,
    resume: z
      .string()
      .optional()
      .describe(
        'Of a session that is kept: the secret that resumes it, on any server with its `session_store`.',
      ),
    agents: z
      .array(
        z.object({
          kept: keptNumber,
          turns: z.int().describe('Number of turns in its history.'),
          agent_id: agent_id.optional().describe('Id of the agent; absent if it could not be opened.'),
          error: z
            .object(errorFields)
            .optional()
            .describe('Why it could not be opened. A CreateAgentRequest with `kept` opens it.'),
        }),
      )
      .optional()
      .describe('With `resume` in the request: the agents that were kept.'),
  }),
  CreateEmbeddedStringStorageResponse: reply('CreateEmbeddedStringStorageResponse', {
    record_count: recordCount,
    embedding_dim: z.int().describe('Dimension of the embeddings.'),
    stale: staleMark,
  }),
  UpdateEmbeddedStringStorageResponse: reply('UpdateEmbeddedStringStorageResponse', {
    version,
    added: z.int().describe('Number of new records.'),
    replaced: z.int().describe('Number of records in place of earlier ones.'),
    removed: z.int().describe('Number of removed records.'),
    record_count: recordCount,
  }),
  GetEmbeddedStringStorageResponse: reply('GetEmbeddedStringStorageResponse', {
    version,
    records: z.array(storedRecordSchema).describe('The records, in the order of the ids.'),
    missing: z.array(z.string()).describe('The ids without a record.'),
  }),
  ListEmbeddedStringStorageResponse: reply('ListEmbeddedStringStorageResponse', {
    version,
    total: z.int().describe('Number of records, or of those that match the filter.'),
    records: z.array(storedRecordSchema).describe('The records, in their order.'),
  }),
  ForgetEmbeddedStringStorageResponse: reply('ForgetEmbeddedStringStorageResponse', {
    version,
    forgotten: z.int().describe('Number of records that are gone.'),
    record_count: recordCount,
    histories: quotingHistories,
  }),
  SearchEmbeddedStringStorageResponse: reply('SearchEmbeddedStringStorageResponse', {
    version: version.optional().describe('Version of the storage; absent for a search with `names`.'),
    hits: z.array(hitSchema).describe('The hits, best first.'),
    plan: retrievalPlanSchema.describe('How the search ran: docs/concepts/search.md.'),
    plans: z
      .array(
        z.object({
          storage: z.string().describe('Name of the storage.'),
          plan: retrievalPlanSchema.describe('How the search ran in it.'),
        }),
      )
      .optional()
      .describe('With `names`: the plan of each storage; `plan` is the first.'),
    stale: staleMark,
  }),
  CreateAgentResponse: reply('CreateAgentResponse', {
    agent_id,
    memories: z
      .array(openedMemorySchema)
      .optional()
      .describe('The memories of its `remember` nodes; absent if there are none.'),
    kept: keptNumber.optional().describe('In a session that is kept: its number among the kept agents.'),
    not_kept: notKept,
  }),
  ExportAgentResponse: reply('ExportAgentResponse', {
    history: historySchema.describe('For the `history` of a CreateAgentRequest.'),
  }),
  ...modelSchemas,
  Ack: reply('Ack', {}),
  StatusResponse: reply('StatusResponse', statusFields),
  Pong: reply('Pong', {}),
  ...turnSchemas,
  ...speechSchemas,
  Error: z.object({
    type: z.literal('Error'),
    reply_to: requestIdSchema.nullable().describe('null when the request had no id that could be read.'),
    ...errorFields,
  }),
} as const;
