import { z } from 'zod';

/** What a memory holds: what was said, what an agent decided, and what it learned of the results. */
export const memoryKinds = ['said', 'decided', 'observed'] as const;
export type MemoryKind = (typeof memoryKinds)[number];

/** How long a memory lasts, and who can open it. */
export const memoryScopes = ['session', 'agent', 'name'] as const;
export type MemoryScope = (typeof memoryScopes)[number];

/** Maximum number of characters of a memory's secret; those of this server have 60. */
export const longestSecret = 128;

/** A memory that an agent has opened, in CreateAgentResponse. */
export const openedMemorySchema = z.object({
  node: z.string().describe('Id of the `remember` node.'),
  storage: z.string().describe('Name of the storage in the session.'),
  scope: z.enum(memoryScopes).describe('Scope of the memory.'),
  created: z.boolean().describe('Whether this request made the memory.'),
  secret: z
    .string()
    .optional()
    .describe('Opens the memory later, for `secret` of the node. Sent once, to whoever made the memory.'),
});

export type OpenedMemory = z.output<typeof openedMemorySchema>;

/** A conversation of the client that quotes a forgotten text. */
const quotingHistorySchema = z.object({
  session_id: z.string().describe('Session of the agent.'),
  agent_id: z.string().describe('The agent.'),
  turns: z.array(z.int()).describe('Numbers of the turns, from 1.'),
  removed: z.boolean().describe('Whether these turns were removed from the history.'),
});

export const quotingHistories = z
  .array(quotingHistorySchema)
  .describe(
    "Histories of the client's own agents that quote a text that was forgotten, or a sentence of it with at least 20 characters.",
  );

export type QuotingHistories = z.output<typeof quotingHistories>;

export const removeHistories = z
  .boolean()
  .default(false)
  .describe("Also removes the turns of the client's own agents that quote a text that is forgotten.");

const memoryRecordSchema = z.object({
  id: z.string().describe("The record's id."),
  text: z.string().describe('Its text.'),
});

/** What a turn changed in a memory, in TurnComplete. */
export const memoryChangeSchema = z.object({
  node: z.string().describe('Id of the `remember` node.'),
  storage: z.string().describe('Name of the storage.'),
  version: z.int().describe('Version of the storage afterwards.'),
  remembered: z
    .array(
      memoryRecordSchema.extend({
        change: z
          .enum(['added', 'merged'])
          .describe('`merged`: the memory had the same statement, which has a later time now.'),
        replaced: z
          .array(z.string())
          .optional()
          .describe('Ids of earlier statements about the subject that it replaced or succeeded.'),
      }),
    )
    .describe('What was remembered.'),
  forgotten: z.array(z.string()).describe('Ids of the records that were forgotten.'),
  histories: quotingHistories.optional(),
  forget: z
    .enum(['confirmed', 'declined', 'expired', 'nothing', 'unattended'])
    .optional()
    .describe(
      'How an action `forget` ended. `nothing`: no record was found. `unattended`: the door of the client has no way to confirm.',
    ),
});

export type MemoryChange = z.output<typeof memoryChangeSchema>;

/** Fields of the event TurnForget. */
export const forgetFields = {
  forget_id: z.string().describe('For the ConfirmForgetRequest.'),
  node: z.string().describe('Id of the `remember` node whose memory it is.'),
  storage: z.string().describe('Name of the storage.'),
  records: z.array(memoryRecordSchema).describe('The records that would be forgotten.'),
  expires_in_ms: z.int().describe('Milliseconds until nothing is forgotten without an answer.'),
};
