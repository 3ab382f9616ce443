import { z } from 'zod';
import { hitFields } from './retrieval.js';

/** What the user said: the first component of every interaction. */
export const humanMessageSchema = z.object({ _type: z.literal('human_message'), text: z.string() });

/** One record that a Retrieve node found. */
export const knowledgeSchema = z.object({
  _type: z.literal('knowledge'),
  node: z.string().describe('Id of the node that found it.'),
  storage: z.string(),
  ...hitFields,
});

/** What nodes read and append during a turn: flat objects told apart by `_type`. */
export const componentSchema = z.discriminatedUnion('_type', [humanMessageSchema, knowledgeSchema]);

export type Knowledge = z.output<typeof knowledgeSchema>;
export type Component = z.output<typeof componentSchema>;
