import { z } from 'zod';
import type { NodeSchema } from '../../node-schema.js';

export const schema = {
  type: 'quote',
  params: z.strictObject({
    max_sentences: z.int().min(1).max(100).default(3).describe('Most sentences that are quoted.'),
    min_score: z
      .number()
      .min(0)
      .max(1)
      .default(0.2)
      .describe(
        "Least share of the query's words that a sentence must have to be quoted. 0: every sentence fits.",
      ),
    separator: z.string().max(100).default(' ').describe('Stands between two quoted sentences.'),
    fallback: z
      .string()
      .min(1)
      .max(16_384)
      .optional()
      .describe('The reply when no sentence fits. Default: the node replies nothing.'),
  }),
  report: {
    sentences: z.int().optional().describe('Sentences of the knowledge that were looked at.'),
    quoted: z.int().optional().describe('Sentences that were quoted; 0: none fitted.'),
    best_score: z.number().optional().describe('The score of the best sentence.'),
  },
  components: [],
} as const satisfies NodeSchema;

export type QuoteParams = z.output<typeof schema.params>;
