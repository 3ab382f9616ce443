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

/** A piece of the reply, made by one node. */
const characterReplySchema = z.object({
  _type: z.literal('character_reply'),
  node: z.string().describe('Id of the node that made it.'),
  text: z.string(),
});

/** Components that every type of node may read or append; a type's folder has those of its own. */
export const sharedComponents = [humanMessageSchema, knowledgeSchema, characterReplySchema] as const;

/** What nodes read and append during a turn: a flat object, told apart by `_type`. */
export const anyComponentSchema = z.looseObject({ _type: z.string() });

export type Knowledge = z.output<typeof knowledgeSchema>;
type CharacterReply = z.output<typeof characterReplySchema>;
type HumanMessage = z.output<typeof humanMessageSchema>;
export type SharedComponent = HumanMessage | Knowledge | CharacterReply;
