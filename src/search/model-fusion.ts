import { z } from 'zod';
import { type Options, rankingOptions } from '../../lib/basics.js';
import type { FusionOptions, ScoreFusionOptions, Tokenizer } from '../../lib/internal.js';
import { frameFields } from './option-fields.js';
import { fromFields } from './option-names.js';

const { rrf, scores } = rankingOptions;
const { k, weights, candidates } = rrf.fields;
const legs = { ...weights.fields, scoreWeight: scores.fields.weight, k, candidates } satisfies Options;

type LegsFields = Omit<LegsFusion, 'scoreWeight'> & { score_weight?: number | undefined };

const legsFields = frameFields<LegsFields>(legs);
const legsSchema = z.strictObject(legsFields);

/** The fusion settings in an embedding model's catalog entry, in the catalog's spelling. */
export const modelFusionSchema = z.strictObject({
  ...legsFields,
  by_tokenizer: z
    .strictObject({
      basic: legsSchema.optional(),
      enhanced: legsSchema.optional(),
      multilingual: legsSchema.optional(),
    })
    .optional()
    .describe('What differs beside a tokenizer: BM25 over stems is the stronger leg, and wants more weight.'),
});

interface LegsFusion {
  /** Weight of the dense leg in the fusion by ranks. Default 1. */
  dense?: number | undefined;
  /** Weight of the lexical leg in the fusion by ranks. Default 1. */
  lexical?: number | undefined;
  /** Share of the dense leg in the fusion by scores; it follows each query. Default 0.6. */
  scoreWeight?: number | undefined;
  /** Default 60. */
  k?: number | undefined;
  /** Records of each leg. Default max(50, 4 topK). */
  candidates?: number | undefined;
}

/** How an embedding model fuses with lexical search, unless the search says otherwise. */
export interface ModelFusion extends LegsFusion {
  /** Settings that differ for storages with a tokenizer. */
  byTokenizer?: { readonly [Name in Tokenizer]?: LegsFusion | undefined } | undefined;
}

/** Converts the fusion settings of a catalog entry. */
export function modelFusion({ by_tokenizer = {}, ...all }: z.output<typeof modelFusionSchema>): ModelFusion {
  const byTokenizer = Object.fromEntries(
    Object.entries(by_tokenizer).map(([tokenizer, own]) => [
      tokenizer,
      own && fromFields<LegsFusion>(legs, own),
    ]),
  );
  return { ...fromFields<LegsFusion>(legs, all), byTokenizer };
}

/**
 * Returns the fusion of one hybrid search. Each field comes from the search, else from the model's settings for the
 * storage's tokenizer, else from its general settings, else from the library's defaults.
 */
export function fusionFor(
  tokenizer: Tokenizer,
  { byTokenizer, ...general }: ModelFusion = {},
  said: FusionOptions = {},
): FusionOptions {
  const model = { ...general, ...byTokenizer?.[tokenizer] };
  return {
    k: said.k ?? model.k,
    weights: {
      dense: said.weights?.dense ?? model.dense,
      lexical: said.weights?.lexical ?? model.lexical,
    },
    candidates: said.candidates ?? model.candidates,
  };
}

/** Returns the fusion by scores of one hybrid search, with the model's share where the search does not say. */
export function scoreFusionFor(
  tokenizer: Tokenizer,
  { byTokenizer, ...general }: ModelFusion = {},
  said: ScoreFusionOptions = {},
): ScoreFusionOptions {
  const model = { ...general, ...byTokenizer?.[tokenizer] };
  return {
    weight: said.weight ?? model.scoreWeight,
    adapt: said.adapt ?? said.weight === undefined,
    candidates: said.candidates ?? model.candidates,
  };
}

/** Returns the fusion without its dense leg, for a query without model tokens; undefined if no leg remains. */
export function wordsAlone(fusion: FusionOptions): FusionOptions | undefined {
  if (fusion.weights?.lexical === 0) return undefined;
  return { ...fusion, weights: { ...fusion.weights, dense: 0 } };
}
