import { z } from 'zod';
import { boundedArray, countValues } from '../base/schema/bounded.js';

/** Version of an exported history. */
export const historyVersion = 1;

/** Maximum number of turns of one history. */
const maxHistoryTurns = 10_000;

/** Maximum number of values of all turns together: the turns, their fields, and the values in those. */
export const maxHistoryValues = 100_000;

/** Maximum number of values of an action's arguments or result. */
const maxValues = 1000;

const fewValues = (value: unknown) => countValues(value, maxValues + 1).values <= maxValues + 1;
const tooMany = `at most ${maxValues} values are expected, and it has more`;

/** An action that a language model asked the client to do. */
export const actionSchema = z.strictObject({
  name: z.string().min(1).max(64).describe("Name of one of the node's `actions`."),
  arguments: z.unknown().describe('Arguments that its schema allows.'),
});

/** The client's report on an action: any JSON value. */
export const actionResultSchema = z
  .unknown()
  .refine(fewValues, tooMany)
  .optional()
  .describe('Result of the action of the turn before: any JSON value.');

const historyTurnSchema = z.strictObject({
  text: z.string().describe("The user's message."),
  reply: z.string().describe("The agent's reply, without thinking."),
  action: actionSchema.optional().describe('The action that the reply asked for.'),
  action_result: actionResultSchema,
  interrupted: z
    .boolean()
    .optional()
    .describe(
      'The turn was cancelled, or the user did not hear all of the reply: it is what was said until then.',
    ),
});

type HistoryTurns = z.ZodType<z.output<typeof historyTurnSchema>[], z.input<typeof historyTurnSchema>[]>;

/** Turns of an agent, oldest first, as ExportAgentRequest returns and CreateAgentRequest restores them. */
export const historySchema = z.strictObject({
  version: z.literal(historyVersion, `the number ${historyVersion} is expected`),
  // boundedArray() checks the length before the items, and so takes anything as an item.
  turns: boundedArray(historyTurnSchema, 0, maxHistoryTurns, { values: maxHistoryValues }).describe(
    'The turns, oldest first.',
  ) as unknown as HistoryTurns,
});

export type Action = z.output<typeof actionSchema>;
export type HistoryTurn = z.output<typeof historyTurnSchema>;
export type History = z.output<typeof historySchema>;
