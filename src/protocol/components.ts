import { z } from 'zod';
import { hitFields } from './retrieval.js';

/** What the user said: the first component of every interaction. */
const humanMessageSchema = z.object({
  _type: z.literal('human_message'),
  text: z.string().describe("The turn's text."),
});

/** One record that a Retrieve node found. */
const knowledgeSchema = z.object({
  _type: z.literal('knowledge'),
  node: z.string().describe('Id of the node that found it.'),
  storage: z.string().describe('As the node names it.'),
  ...hitFields,
});

/** A pattern of a regex_guardrail node that the user's message contains, where it does so first. */
const guardrailMatchSchema = z.object({
  _type: z.literal('guardrail_match'),
  node: z.string().describe('Id of the node that looked.'),
  pattern: z.string().describe('The pattern as it is written in its file.'),
  line: z.int().describe('Its line there, from 1.'),
  match: z.string().describe('What it found, at most 256 characters of it.'),
  start: z.int().describe('Where in the message, in UTF-16 units from 0.'),
  end: z.int().describe('Behind its last unit.'),
});

/** A piece of the reply, made by one node. */
const characterReplySchema = z.object({
  _type: z.literal('character_reply'),
  node: z.string().describe('Id of the node that made it.'),
  text: z.string(),
});

/** What nodes read and append during a turn: flat objects told apart by `_type`. */
export const componentSchema = z.discriminatedUnion('_type', [
  humanMessageSchema,
  knowledgeSchema,
  guardrailMatchSchema,
  characterReplySchema,
]);

export type Knowledge = z.output<typeof knowledgeSchema>;
export type GuardrailMatch = z.output<typeof guardrailMatchSchema>;
export type Component = z.output<typeof componentSchema>;
