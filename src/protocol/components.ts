import { z } from 'zod';
import { hitFields, staleMark } from './retrieval.js';

/** The user's message: the first component of every interaction. */
const humanMessageSchema = z.object({
  _type: z.literal('human_message'),
  text: z.string().describe("The user's message."),
});

const turnHitFields = {
  node: z.string().describe('Id of the node that found it.'),
  ...hitFields,
  storage: z.string().describe('The storage as the node names it.'),
  stale: staleMark,
};

/** A hit of a turn. */
export const turnHitSchema = z.object(turnHitFields);

/** A record found by a Retrieve node. */
const knowledgeSchema = z.object({ _type: z.literal('knowledge'), ...turnHitFields });

/** A piece of the reply, made by one node. */
const characterReplySchema = z.object({
  _type: z.literal('character_reply'),
  node: z.string().describe('Id of the node that replied.'),
  text: z.string().describe('The reply of the node.'),
});

/** The source of a part of the reply. */
const citationFields = {
  node: z.string().describe('Id of the node that replied.'),
  kind: z
    .enum(['quote', 'mark'])
    .describe(
      "`quote`: the part equals this part of the record's text. `mark`: the part refers to the record.",
    ),
  storage: z.string().describe('The storage as the retrieve node names it.'),
  id: z.string().describe("The record's id."),
  start: z.int().describe("Start of the cited part in the record's text, in UTF-16 code units from 0."),
  end: z.int().describe('End of the part, exclusive.'),
  reply_start: z.int().describe("Start of the part in the turn's text, in the same units."),
  reply_end: z.int().describe('End of the part in the text, exclusive.'),
  score: z
    .number()
    .describe("quote: share of the query's words in the sentence, 0 to 1. generate: the record's `score`."),
  metadata: hitFields.metadata,
};

export const citationSchema = z.object(citationFields);

/** A record that the reply is based on: it was in the prompt, or its sentences are quoted. */
export const sourceSchema = z.object({
  node: z.string().describe('Id of the node that replied.'),
  storage: citationFields.storage,
  id: citationFields.id,
  number: z
    .int()
    .optional()
    .describe('generate: the number of the record in the prompt, from 1, which marks refer to.'),
  cited: z.boolean().describe('Whether a citation of the reply refers to the record.'),
  sentence: z
    .object({
      start: z.int().describe("Start of the sentence in the record's text, in UTF-16 code units from 0."),
      end: z.int().describe('End of the sentence, exclusive.'),
      text: z.string().describe('The sentence, at most 1,000 characters.'),
    })
    .optional()
    .describe(
      'The quoted part of the record, else its sentence with most of the words of the query. Absent if no sentence shares a word with it.',
    ),
  score: hitFields.score,
  metadata: hitFields.metadata,
});

const citationComponentSchema = z.object({ _type: z.literal('citation'), ...citationFields });

/** Components shared by all node types; others are in their type's folder. */
export const sharedComponents = [
  humanMessageSchema,
  knowledgeSchema,
  characterReplySchema,
  citationComponentSchema,
] as const;

/** Any component: a flat object, discriminated by `_type`. */
export const anyComponentSchema = z.looseObject({ _type: z.string() });

export type TurnHit = z.output<typeof turnHitSchema>;
export type Knowledge = z.output<typeof knowledgeSchema>;
export type Citation = z.output<typeof citationSchema>;
export type Source = z.output<typeof sourceSchema>;
export type SharedComponent = z.output<(typeof sharedComponents)[number]>;
