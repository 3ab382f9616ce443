import { z } from 'zod';
import type { FusionOptions, Tokenizer } from '../../lib/index.js';
import { fusionFields } from './fields.js';

const { weight, k, candidates } = fusionFields;
const legs = {
  dense: weight.describe('Weight of the dense leg. Default 1.'),
  lexical: weight.describe('Weight of the lexical leg. Default 1.'),
  k,
  candidates,
};
const legsSchema = z.strictObject(legs);

/** The fusion that suits an embedding model, as its catalog entry states it. */
export const modelFusionSchema = z.strictObject({
  ...legs,
  by_tokenizer: z
    .strictObject({
      basic: legsSchema.optional(),
      enhanced: legsSchema.optional(),
      multilingual: legsSchema.optional(),
    })
    .optional()
    .describe('What differs beside a tokenizer: BM25 over stems is the stronger leg, and wants more weight.'),
});

export type ModelFusion = z.output<typeof modelFusionSchema>;

/**
 * The fusion of one hybrid search, field by field: what the search says, then what suits the model beside the storage's
 * tokenizer, then what suits it in general; the library has the defaults.
 */
export function fusionFor(
  tokenizer: Tokenizer,
  { by_tokenizer, ...general }: ModelFusion = {},
  said: FusionOptions = {},
): FusionOptions {
  const model = { ...general, ...by_tokenizer?.[tokenizer] };
  return {
    k: said.k ?? model.k,
    weights: {
      dense: said.weights?.dense ?? model.dense,
      lexical: said.weights?.lexical ?? model.lexical,
    },
    candidates: said.candidates ?? model.candidates,
  };
}

/** The same fusion without its dense leg, for a query in which the model sees nothing; undefined when no leg would be left. */
export function wordsAlone(fusion: FusionOptions): FusionOptions | undefined {
  if (fusion.weights?.lexical === 0) return undefined;
  return { ...fusion, weights: { ...fusion.weights, dense: 0 } };
}
