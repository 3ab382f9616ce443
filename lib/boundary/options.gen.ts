// Written by scripts/generate-layouts.mjs. The types of options and their numbers, from their definitions in lib/.
import { samplingOptions } from '../generation/sampling-options.js';
import { numberedOptions } from '../search/options.js';
import { optionNumber } from './option-numbers.js';

/** Rank fusion in hybrid mode: score = sum over the legs of weight / (k + rank), ranks from 1. */
export interface FusionOptions {
  /** The k of weight / (k + rank). 0 to 1,000,000, default 60. */
  k?: number | undefined;
  /** Weights of the two legs. */
  weights?: {
    /** Weight of the dense leg. 0 to 1,000, default 1. */
    dense?: number | undefined;
    /** Weight of the lexical leg. 0 to 1,000, default 1. */
    lexical?: number | undefined;
  } | undefined;
  /** Depth of each leg, never less than `topK`. 1 to 10,000, default max(50, 4 `topK`). */
  candidates?: number | undefined;
}

/** Fusion by scores in hybrid mode: score = weight * dense score + (1 - weight) * lexical score. */
export interface ScoreFusionOptions {
  /** Share of the dense leg. 0 to 1, default the model's, which follows each query. */
  weight?: number | undefined;
  /** Whether the weight follows each query. Default true without `weight`. */
  adapt?: boolean | undefined;
  /** Depth of each leg, never less than `topK`. 1 to 10,000, default max(50, 4 `topK`). */
  candidates?: number | undefined;
}

/** Least relevance in hybrid mode by each leg as if it searched alone: if no hit reaches either, nothing relevant was found, and there are no hits. With a filter, the odds fall with the .3rd power of the share of records that match. A search with a `min_best` of its own takes none of the defaults. */
export interface LegMinimum {
  /** Least relevance by the vectors. 0 to 1. */
  dense?: number | undefined;
  /** Least relevance by the words. 0 to 1. */
  lexical?: number | undefined;
}

/** How the lexical leg reads the text: docs/concepts/lexical-search.md. Refused in dense mode. */
export interface LexicalOptions {
  /** extended: "phrases", prefixes (word*), +required and -excluded words count. Default words. */
  querySyntax?: 'words' | 'extended' | undefined;
  /** 1: rare words also match words that differ by one edit. 0 to 1, default 0. */
  fuzziness?: number | undefined;
  /** String fields whose words count too, with the factor of their BM25 score. */
  boosts?: Readonly<Record<string, number>> | undefined;
  /** Words of queries that are ignored, besides those of the tokenizer. */
  stopwords?: readonly string[] | undefined;
  /** Groups of words that count as one. */
  synonyms?: readonly (readonly string[])[] | undefined;
}

/** Newer records score higher: docs/concepts/search.md. `{}` takes its defaults. */
export interface RecencyOptions {
  /** Field with the time of a record: an int field with a format. Default time. */
  field?: string | undefined;
  /** Seconds in which the recency of a record halves. 1 to 10,000,000,000, default 604800. */
  halfLifeS?: number | undefined;
  /** Share of the score that depends on it. 0 to 1, default 0.2. */
  weight?: number | undefined;
}

/** More important records score higher: docs/concepts/search.md. `{}` takes its defaults. */
export interface ImportanceOptions {
  /** Field with the importance of a record, 0 to 1. Default importance. */
  field?: string | undefined;
  /** Share of the score that depends on it. 0 to 1, default 0.2. */
  weight?: number | undefined;
}

/** How records are ranked. */
export interface RankingOptions {
  /** Search by meaning, by words, or by both. Default hybrid, or dense for a config that does not say. */
  mode?: 'dense' | 'lexical' | 'hybrid' | undefined;
  /** Maximum number of hits. 1 to 1,000, default 5. */
  topK?: number | undefined;
  /** Largest cosine distance of the dense leg. Hits of the lexical leg are kept. Refused in lexical mode. 0 to 2. */
  threshold?: number | undefined;
  /**
   * Candidates held during a graph search: more find more and take longer. 1 to 100,000, default 96, or twice
   * `topK` where that is more.
   */
  ef?: number | undefined;
  /**
   * Fusion of the legs in hybrid mode: by ranks, or by normalised scores (docs/concepts/search.md). Refused in
   * other modes, as are `rrf` and `scores`. Default scores, or rrf for a config that does not say.
   */
  fusion?: 'rrf' | 'scores' | undefined;
  /** Rank fusion in hybrid mode: score = sum over the legs of weight / (k + rank), ranks from 1. */
  rrf?: FusionOptions | undefined;
  /** Fusion by scores in hybrid mode: score = weight * dense score + (1 - weight) * lexical score. */
  scores?: ScoreFusionOptions | undefined;
  /**
   * Weight of the embeddings of the best two hits: the query moves towards them, and the candidates are ranked
   * again. 0: no feedback (docs/concepts/search.md). 0 to 2, default 0.3, or 0 for a config that does not say.
   */
  feedback?: boolean | number | undefined;
  /** Minimum relevance of the hits; the others are dropped. 0 to 1. */
  minScore?: number | undefined;
  /**
   * Minimum relevance of the best hit: if it has less, nothing relevant was found, and there are no hits. 0 to 1.
   */
  minBest?: number | undefined;
  /**
   * Least relevance in hybrid mode by each leg as if it searched alone: if no hit reaches either, nothing relevant
   * was found, and there are no hits. With a filter, the odds fall with the .3rd power of the share of records that
   * match. A search with a `minBest` of its own takes none of the defaults.
   */
  minByLeg?: LegMinimum | undefined;
  /** How the lexical leg reads the text: docs/concepts/lexical-search.md. Refused in dense mode. */
  lexical?: LexicalOptions | undefined;
}

/** How records are ranked. In frames. */
export interface RankingFields {
  /** Search by meaning, by words, or by both. */
  mode?: 'dense' | 'lexical' | 'hybrid' | undefined;
  /** Maximum number of hits. */
  top_k?: number | undefined;
  /** Largest cosine distance of the dense leg. Hits of the lexical leg are kept. Refused in lexical mode. */
  threshold?: number | undefined;
  /**
   * Fusion of the legs in hybrid mode: by ranks, or by normalised scores (docs/concepts/search.md). Refused in
   * other modes, as are `rrf` and `scores`.
   */
  fusion?: 'rrf' | 'scores' | undefined;
  /** Rank fusion in hybrid mode: score = sum over the legs of weight / (k + rank), ranks from 1. */
  rrf?: {
    /** The k of weight / (k + rank). */
    k?: number | undefined;
    /** Weights of the two legs. */
    weights?: {
      /** Weight of the dense leg. */
      dense?: number | undefined;
      /** Weight of the lexical leg. */
      lexical?: number | undefined;
    } | undefined;
    /** Depth of each leg, never less than `top_k`. */
    candidates?: number | undefined;
  } | undefined;
  /** Fusion by scores in hybrid mode: score = weight * dense score + (1 - weight) * lexical score. */
  scores?: {
    /** Share of the dense leg. */
    weight?: number | undefined;
    /** Depth of each leg, never less than `top_k`. */
    candidates?: number | undefined;
  } | undefined;
  /**
   * Weight of the embeddings of the best two hits: the query moves towards them, and the candidates are ranked
   * again. 0: no feedback (docs/concepts/search.md).
   */
  feedback?: number | undefined;
  /** Minimum relevance of the hits; the others are dropped. */
  min_score?: number | undefined;
  /** Minimum relevance of the best hit: if it has less, nothing relevant was found, and there are no hits. */
  min_best?: number | undefined;
  /**
   * Least relevance in hybrid mode by each leg as if it searched alone: if no hit reaches either, nothing relevant
   * was found, and there are no hits. With a filter, the odds fall with the .3rd power of the share of records that
   * match. A search with a `min_best` of its own takes none of the defaults.
   */
  min_by_leg?: {
    /** Least relevance by the vectors. */
    dense?: number | undefined;
    /** Least relevance by the words. */
    lexical?: number | undefined;
  } | undefined;
  /** How the lexical leg reads the text: docs/concepts/lexical-search.md. Refused in dense mode. */
  lexical?: {
    /** extended: "phrases", prefixes (word*), +required and -excluded words count. */
    query_syntax?: 'words' | 'extended' | undefined;
    /** 1: rare words also match words that differ by one edit. */
    fuzziness?: number | undefined;
    /** String fields whose words count too, with the factor of their BM25 score. */
    boosts?: Readonly<Record<string, number>> | undefined;
    /** Words of queries that are ignored, besides those of the tokenizer. */
    stopwords?: readonly string[] | undefined;
    /** Groups of words that count as one. */
    synonyms?: readonly (readonly string[])[] | undefined;
  } | undefined;
}

/** How the hits are chosen from the ranking. */
export interface ResultOptions {
  /** Hits to skip; `offset` plus `topK` is at most 1000. 0 to 1,000, default 0. */
  offset?: number | undefined;
  /** Metadata field; each of its values gets at most `groupSize` hits: docs/concepts/search.md. */
  groupBy?: string | undefined;
  /** Hits per value of `groupBy`. 1 to 1,000, default 1. */
  groupSize?: number | undefined;
  /**
   * Drops each hit whose embedding is at most this cosine distance from that of a better one; 0.05 suits most
   * models. 0 to 2, default none is dropped.
   */
  dropDuplicates?: boolean | number | undefined;
  /** Adds this many records before and after each hit. 0 to 10, default 0. */
  context?: number | undefined;
  /** Field whose value the records around a hit share with it. Default `path` if there is such a field. */
  contextField?: string | undefined;
  /** Newer records score higher: docs/concepts/search.md. `{}` takes its defaults. */
  recency?: RecencyOptions | undefined;
  /** More important records score higher: docs/concepts/search.md. `{}` takes its defaults. */
  importance?: ImportanceOptions | undefined;
}

/** How the hits are chosen from the ranking. In frames. */
export interface ResultFields {
  /** Hits to skip; `offset` plus `top_k` is at most 1000. */
  offset?: number | undefined;
  /** Metadata field; each of its values gets at most `group_size` hits: docs/concepts/search.md. */
  group_by?: string | undefined;
  /** Hits per value of `group_by`. */
  group_size?: number | undefined;
  /**
   * Drops each hit whose embedding is at most this cosine distance from that of a better one; 0.05 suits most
   * models.
   */
  drop_duplicates?: number | undefined;
  /** Adds this many records before and after each hit. */
  context?: number | undefined;
  /** Field whose value the records around a hit share with it. */
  context_field?: string | undefined;
  /** Newer records score higher: docs/concepts/search.md. `{}` takes its defaults. */
  recency?: {
    /** Field with the time of a record: an int field with a format. */
    field?: string | undefined;
    /** Seconds in which the recency of a record halves. */
    half_life_s?: number | undefined;
    /** Share of the score that depends on it. */
    weight?: number | undefined;
  } | undefined;
  /** More important records score higher: docs/concepts/search.md. `{}` takes its defaults. */
  importance?: {
    /** Field with the importance of a record, 0 to 1. */
    field?: string | undefined;
    /** Share of the score that depends on it. */
    weight?: number | undefined;
  } | undefined;
}

/** Corrects relevance: log odds = offset + slope * estimated log odds. */
export interface Calibration {
  /** Added to the log odds. Above 0: records are relevant more often than estimated. -20 to 20, default 0. */
  offset?: number | undefined;
  /** Factor of the log odds, before the offset is added. 0.01 to 10, default 1. */
  slope?: number | undefined;
}

/** How tokens are chosen. */
export interface Sampling {
  /** 0: always the likeliest token. 0 to 10, default 0.7. */
  temperature?: number | undefined;
  /** Number of likeliest tokens to draw from; 0: all. 0 to 1,048,576, default 40. */
  topK?: number | undefined;
  /** Share of probability to draw from. Above 0, at most 1, default 0.95. */
  topP?: number | undefined;
  /** Minimum probability, as a share of the likeliest. 0 to 1, default 0.05. */
  minP?: number | undefined;
  /** Divides the scores of recent tokens. 0.01 to 10, default 1. */
  repeatPenalty?: number | undefined;
  /** Subtracted for each time that a token was used. -2 to 2, default 0. */
  frequencyPenalty?: number | undefined;
  /** Subtracted for a token that was used. -2 to 2, default 0. */
  presencePenalty?: number | undefined;
  /** Number of recent tokens that penalties consider. 0 to 1,048,576, default 64. */
  penaltyLastN?: number | undefined;
}

/** How tokens are chosen. In frames. */
export interface SamplingFields {
  /** 0: always the likeliest token. */
  temperature?: number | undefined;
  /** Number of likeliest tokens to draw from; 0: all. */
  top_k?: number | undefined;
  /** Share of probability to draw from. */
  top_p?: number | undefined;
  /** Minimum probability, as a share of the likeliest. */
  min_p?: number | undefined;
  /** Divides the scores of recent tokens. */
  repeat_penalty?: number | undefined;
  /** Subtracted for each time that a token was used. */
  frequency_penalty?: number | undefined;
  /** Subtracted for a token that was used. */
  presence_penalty?: number | undefined;
  /** Number of recent tokens that penalties consider. */
  penalty_last_n?: number | undefined;
}

/** Returns the numbers of the options for C++, checked; NaN for one that is left out and has no default. @throws INVALID_ARGUMENT */
export function searchNumbers(given: RankingOptions & { calibration?: Calibration | undefined }, usual: RankingOptions & { calibration?: Calibration | undefined }): number[] {
  return [
    given.mode === undefined ? usual.mode === undefined ? Number.NaN : optionNumber('mode', numberedOptions.mode, usual.mode) : optionNumber('mode', numberedOptions.mode, given.mode),
    given.topK === undefined ? 5 : optionNumber('topK', numberedOptions.topK, given.topK),
    given.threshold === undefined ? usual.threshold === undefined ? Number.NaN : optionNumber('threshold', numberedOptions.threshold, usual.threshold) : optionNumber('threshold', numberedOptions.threshold, given.threshold),
    given.ef === undefined ? usual.ef === undefined ? Number.NaN : optionNumber('ef', numberedOptions.ef, usual.ef) : optionNumber('ef', numberedOptions.ef, given.ef),
    given.fusion === undefined ? usual.fusion === undefined ? Number.NaN : optionNumber('fusion', numberedOptions.fusion, usual.fusion) : optionNumber('fusion', numberedOptions.fusion, given.fusion),
    given.rrf?.k === undefined ? 60 : optionNumber('rrf.k', numberedOptions.rrf.fields.k, given.rrf?.k),
    given.rrf?.weights?.dense === undefined ? 1 : optionNumber('rrf.weights.dense', numberedOptions.rrf.fields.weights.fields.dense, given.rrf?.weights?.dense),
    given.rrf?.weights?.lexical === undefined ? 1 : optionNumber('rrf.weights.lexical', numberedOptions.rrf.fields.weights.fields.lexical, given.rrf?.weights?.lexical),
    given.rrf?.candidates === undefined ? given.scores?.candidates === undefined ? usual.rrf?.candidates === undefined ? Number.NaN : optionNumber('rrf.candidates', numberedOptions.rrf.fields.candidates, usual.rrf?.candidates) : optionNumber('scores.candidates', numberedOptions.scores.fields.candidates, given.scores?.candidates) : optionNumber('rrf.candidates', numberedOptions.rrf.fields.candidates, given.rrf?.candidates),
    given.scores?.weight === undefined ? 0.6 : optionNumber('scores.weight', numberedOptions.scores.fields.weight, given.scores?.weight),
    given.scores?.adapt === undefined ? usual.scores?.adapt === undefined ? Number.NaN : optionNumber('scores.adapt', numberedOptions.scores.fields.adapt, usual.scores?.adapt) : optionNumber('scores.adapt', numberedOptions.scores.fields.adapt, given.scores?.adapt),
    given.feedback === undefined ? usual.feedback === undefined ? Number.NaN : optionNumber('feedback', numberedOptions.feedback, usual.feedback) : optionNumber('feedback', numberedOptions.feedback, given.feedback),
    given.minScore === undefined ? usual.minScore === undefined ? Number.NaN : optionNumber('minScore', numberedOptions.minScore, usual.minScore) : optionNumber('minScore', numberedOptions.minScore, given.minScore),
    given.minBest === undefined ? usual.minBest === undefined ? Number.NaN : optionNumber('minBest', numberedOptions.minBest, usual.minBest) : optionNumber('minBest', numberedOptions.minBest, given.minBest),
    given.minByLeg?.dense === undefined ? usual.minByLeg?.dense === undefined ? Number.NaN : optionNumber('minByLeg.dense', numberedOptions.minByLeg.fields.dense, usual.minByLeg?.dense) : optionNumber('minByLeg.dense', numberedOptions.minByLeg.fields.dense, given.minByLeg?.dense),
    given.minByLeg?.lexical === undefined ? usual.minByLeg?.lexical === undefined ? Number.NaN : optionNumber('minByLeg.lexical', numberedOptions.minByLeg.fields.lexical, usual.minByLeg?.lexical) : optionNumber('minByLeg.lexical', numberedOptions.minByLeg.fields.lexical, given.minByLeg?.lexical),
    given.calibration?.offset === undefined ? 0 : optionNumber('calibration.offset', numberedOptions.calibration.fields.offset, given.calibration?.offset),
    given.calibration?.slope === undefined ? 1 : optionNumber('calibration.slope', numberedOptions.calibration.fields.slope, given.calibration?.slope),
  ];
}

/** Returns the numbers of the options for C++, checked; NaN for one that is left out and has no default. @throws INVALID_ARGUMENT */
export function samplingNumbers(given: Sampling): number[] {
  return [
    given.temperature === undefined ? 0.7 : optionNumber('sampling.temperature', samplingOptions.temperature, given.temperature),
    given.topK === undefined ? 40 : optionNumber('sampling.topK', samplingOptions.topK, given.topK),
    given.topP === undefined ? 0.95 : optionNumber('sampling.topP', samplingOptions.topP, given.topP),
    given.minP === undefined ? 0.05 : optionNumber('sampling.minP', samplingOptions.minP, given.minP),
    given.repeatPenalty === undefined ? 1 : optionNumber('sampling.repeatPenalty', samplingOptions.repeatPenalty, given.repeatPenalty),
    given.frequencyPenalty === undefined ? 0 : optionNumber('sampling.frequencyPenalty', samplingOptions.frequencyPenalty, given.frequencyPenalty),
    given.presencePenalty === undefined ? 0 : optionNumber('sampling.presencePenalty', samplingOptions.presencePenalty, given.presencePenalty),
    given.penaltyLastN === undefined ? 64 : optionNumber('sampling.penaltyLastN', samplingOptions.penaltyLastN, given.penaltyLastN),
  ];
}
