import { z } from 'zod';
import type { NodeSchema } from '../../node-schema.js';

export const schema = {
  type: 'quote',
  params: z.strictObject({
    max_sentences: z.int().min(1).max(100).default(3).describe('Maximum number of quoted sentences.'),
    min_score: z
      .number()
      .min(0)
      .max(1)
      .default(0.2)
      .describe('Minimum score of a quoted sentence. 0: every sentence qualifies.'),
    separator: z.string().max(100).default(' ').describe('Text between two quoted sentences.'),
    fallback: z
      .string()
      .min(1)
      .max(16_384)
      .optional()
      .describe('Reply if no sentence reaches `min_score`. Default: no reply.'),
  }),
  report: {
    sentences: z.int().optional().describe('Number of sentences scored.'),
    quoted: z.int().optional().describe('Number of sentences quoted.'),
    best_score: z.number().optional().describe('Score of the best sentence.'),
  },
  components: [],
  engine: undefined,
} as const satisfies NodeSchema;

export type QuoteParams = z.output<typeof schema.params>;
