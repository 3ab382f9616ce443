import { z } from 'zod';
import type { LexicalOptions } from '../../lib/internal.js';
import { stringArray, stringArrays } from '../base/schema/bounded.js';

// The limits of lib/search/lexical-options.ts, which a client cannot import: it has no addon.
const querySyntaxes = ['words', 'extended'] as const;
const maxBoosts = 16;
const maxWords = 10_000;

const words = { most: maxWords, shortest: 1, longest: 256 };

/** How the lexical leg reads a query: fields of requests, of the Retrieve node's params and of a knowledge base's config. */
export const lexicalSchema = z.strictObject({
  query_syntax: z
    .enum(querySyntaxes)
    .optional()
    .describe(
      'extended: "phrases", prefixes (word*), +required and -excluded words count. Default words: all text is words.',
    ),
  fuzziness: z
    .int()
    .min(0)
    .max(1)
    .optional()
    .describe('1: rare words also match words that differ by one edit. Default 0.'),
  boosts: z
    .record(z.string(), z.number().gt(0).max(1000))
    .refine((boosts) => Object.keys(boosts).length <= maxBoosts, {
      error: `at most ${maxBoosts} fields are expected`,
    })
    .optional()
    .describe('String fields whose words count too, with the factor of their BM25 score.'),
  stopwords: stringArray(words)
    .optional()
    .describe("Words of queries that are ignored, besides the tokenizer's stopwords."),
  synonyms: stringArrays(maxWords, words).optional().describe('Groups of words that count as one.'),
});

/** Returns options of the library as fields. */
export function lexicalFields({ querySyntax, ...rest }: LexicalOptions): object {
  return { ...(querySyntax !== undefined && { query_syntax: querySyntax }), ...rest };
}

/** Returns the fields as options of the library. */
export function lexicalOptions(
  fields: z.output<typeof lexicalSchema> | undefined,
): LexicalOptions | undefined {
  if (fields === undefined) return undefined;
  const { query_syntax: querySyntax, ...rest } = fields;
  return { ...rest, querySyntax };
}
