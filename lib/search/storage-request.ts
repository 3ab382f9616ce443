import {
  booleanArgument,
  choiceArgument,
  efArgument,
  integerArgument,
  numberArgument,
  vectorsArgument,
} from '../boundary/arguments.js';
import { LorekeepError } from '../boundary/errors.js';
import { storageRequest as at, fusionMethods } from '../boundary/layout.gen.js';
import type { NativeLexicalOptions } from '../boundary/native.js';
import { type CallOptions, describe } from '../boundary/native-call.js';
import { type Calibration, calibrationRange } from './calibration.js';
import type { Filter, FilterExpression } from './filter.js';
import { type LexicalOptions, nativeLexical } from './lexical-options.js';
import { refuseIneffective, refuseUnusedVariables, type SearchMode, searchModes } from './search-mode.js';

export { type SearchMode, searchModes };

/** How a hybrid search fuses its legs: by reciprocal ranks, or by normalised scores (docs/concepts/search.md). */
export type FusionMethod = (typeof fusionMethods)[number];

/** Fusion by scores: score = weight * dense score + (1 - weight) * lexical score, both normalised to [0, 1]. */
export interface ScoreFusionOptions {
  /** Share of the dense leg, 0 to 1. Default 0.6, the right one for most models; a leg of share 0 is not run. */
  weight?: number | undefined;
  /** Whether the weight follows each query. Default: true unless `weight` is given. */
  adapt?: boolean | undefined;
  /** Depth of each leg; default max(50, 4 topK). */
  candidates?: number | undefined;
}

/** Reciprocal rank fusion: score = sum over the legs of weight / (k + rank), ranks from 1. */
export interface FusionOptions {
  /** Default 60. */
  k?: number | undefined;
  /** Default 1 each. */
  weights?: { dense?: number | undefined; lexical?: number | undefined } | undefined;
  /** Depth of each leg; default max(50, 4 topK). */
  candidates?: number | undefined;
}

export interface StorageSearchOptions extends CallOptions {
  /** Default: "hybrid"; with `vector` alone "dense", with `text` alone "lexical". */
  mode?: SearchMode | undefined;
  /** The query's embedding; required in dense and hybrid mode, refused in lexical mode. */
  vector?: Float32Array | undefined;
  /** The query's text; required in lexical and hybrid mode. In dense mode it makes `relevance` better, and finds nothing. */
  text?: string | undefined;
  /** Hits, 1 to 1000, default 5. */
  topK?: number | undefined;
  /**
   * Largest cosine distance in the dense leg, 0 to 2. Records found only by the lexical leg are kept. Refused in lexical
   * mode, as is `ef`.
   */
  threshold?: number | undefined;
  /**
   * Candidates held during a graph search; higher improves recall and takes longer. Default: the largest of 96, 2 topK
   * and, in hybrid mode, `rrf.candidates` (doubled under a filter).
   */
  ef?: number | undefined;
  /** Default "scores", or "rrf" if `rrf` is given. Refused outside hybrid mode, as are `rrf` and `scores`. */
  fusion?: FusionMethod | undefined;
  /** Refused if the fusion is "scores". */
  rrf?: FusionOptions | undefined;
  /** Refused if the fusion is "rrf". */
  scores?: ScoreFusionOptions | undefined;
  /** Minimum relevance of the hits, 0 to 1: the others are dropped. */
  minScore?: number | undefined;
  /** Corrects the hits' relevance, before `minScore`. */
  calibration?: Calibration | undefined;
  /** How the lexical leg reads the text, in lexical and hybrid mode. */
  lexical?: LexicalOptions | undefined;
  /** Adds `highlights` and `snippet` to the hits: the words of the text in them. "snippet": only those. Default false. */
  highlight?: boolean | 'snippet' | undefined;
  /** Restricts the hits, in every mode. Expressions are compiled; the latest ones are cached. */
  filter?: Filter | FilterExpression | undefined;
  /** Values of the filter's variables, by name. */
  variables?: Readonly<Record<string, unknown>> | undefined;
}

/** The options of a search, checked and with all defaults. */
export interface StorageRequest {
  mode: SearchMode;
  topK: number;
  ef: number;
  threshold: number | undefined;
  rrfK: number;
  denseWeight: number;
  lexicalWeight: number;
  /** 0 selects the addon's default. */
  candidates: number;
  fusion: FusionMethod;
  scoreWeight: number;
  adapt: boolean;
  minScore: number | undefined;
  calibration: { offset: number; slope: number };
  vector: Float32Array | undefined;
  text: string | undefined;
  /** Undefined: words and BM25. */
  lexical: NativeLexicalOptions | undefined;
}

/** `ef`: the storage's default, or 0 for the addon's. @throws INVALID_ARGUMENT, DIMENSION_MISMATCH */
export function storageRequest(options: StorageSearchOptions, ef: number, dimension: number): StorageRequest {
  if (typeof options !== 'object' || options === null) {
    throw new LorekeepError('INVALID_ARGUMENT', `a search: an object is expected, not ${describe(options)}`);
  }
  const mode = choiceArgument('mode', options.mode, defaultMode(options), searchModes);
  refuseIneffective(mode, options);
  refuseUnusedVariables(options);
  checkHighlight(options.highlight);
  const topK = integerArgument('topK', options.topK, 5, 1, 1000);
  const { rrf, scores, threshold, minScore } = options;
  const fusion = fusionMethod(options);
  const given = fusion === 'rrf' ? rrf?.candidates : scores?.candidates;
  const candidates = given === undefined ? 0 : integerArgument(`${fusion}.candidates`, given, 1, 1, 10_000);
  return {
    mode,
    topK,
    candidates,
    vector: mode === 'lexical' ? undefined : queryVector(options.vector, mode, dimension),
    text: queryText(options.text, mode),
    lexical: nativeLexical(options.lexical),
    ef: efArgument(options.ef, ef),
    threshold: threshold === undefined ? undefined : numberArgument('threshold', threshold, 0, 0),
    rrfK: numberArgument('rrf.k', rrf?.k, 60, 0),
    denseWeight: numberArgument('rrf.weights.dense', rrf?.weights?.dense, 1, 0),
    lexicalWeight: numberArgument('rrf.weights.lexical', rrf?.weights?.lexical, 1, 0),
    fusion,
    scoreWeight: numberArgument('scores.weight', scores?.weight, defaultScoreWeight, 0, 1),
    adapt: booleanArgument('scores.adapt', scores?.adapt, scores?.weight === undefined),
    minScore: minScore === undefined ? undefined : numberArgument('minScore', minScore, 0, 0, 1),
    calibration: calibrationArgument(options.calibration),
  };
}

/** @throws INVALID_ARGUMENT */
export function checkHighlight(value: StorageSearchOptions['highlight']): void {
  if (value !== 'snippet') booleanArgument('highlight', value, false);
}

function calibrationArgument(given: Calibration | undefined): StorageRequest['calibration'] {
  if (given !== undefined && (typeof given !== 'object' || given === null)) {
    const reason = `an object with offset and slope is expected, not ${describe(given)}`;
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'calibration', reason });
  }
  const number = (name: 'offset' | 'slope') => {
    const { min, max, usual } = calibrationRange[name];
    return numberArgument(`calibration.${name}`, given?.[name], usual, min, max);
  };
  return { offset: number('offset'), slope: number('slope') };
}

function defaultMode({ vector, text }: StorageSearchOptions): SearchMode {
  if (text === undefined && vector !== undefined) return 'dense';
  return vector === undefined && text !== undefined ? 'lexical' : 'hybrid';
}

/** For models without a weight in the catalog. */
const defaultScoreWeight = 0.6;

/** Returns the fusion that the options name or imply. @throws INVALID_ARGUMENT for options of the other fusion */
export function fusionMethod({
  fusion,
  rrf,
  scores,
}: Pick<StorageSearchOptions, 'fusion' | 'rrf' | 'scores'>): FusionMethod {
  const method = choiceArgument('fusion', fusion, rrf === undefined ? 'scores' : 'rrf', fusionMethods);
  const other = method === 'rrf' ? 'scores' : 'rrf';
  if ((method === 'rrf' ? scores : rrf) !== undefined) {
    const reason = `it has no effect on the fusion "${method}"; remove it, or set fusion to "${other}"`;
    throw LorekeepError.about('INVALID_ARGUMENT', { field: other, reason });
  }
  return method;
}

const numbers = new Float64Array(at.numbers);

/** Returns the request as numbers. The array is reused: hand it over before the next call. */
export function requestNumbers(request: StorageRequest): Float64Array {
  numbers[at.mode] = searchModes.indexOf(request.mode);
  numbers[at.topK] = request.topK;
  numbers[at.ef] = request.ef;
  numbers[at.threshold] = request.threshold ?? Number.NaN;
  numbers[at.rrfK] = request.rrfK;
  numbers[at.denseWeight] = request.denseWeight;
  numbers[at.lexicalWeight] = request.lexicalWeight;
  numbers[at.candidates] = request.candidates;
  numbers[at.fusion] = fusionMethods.indexOf(request.fusion);
  numbers[at.scoreWeight] = request.scoreWeight;
  numbers[at.adapt] = request.adapt ? 1 : 0;
  numbers[at.minScore] = request.minScore ?? Number.NaN;
  numbers[at.calibrationOffset] = request.calibration.offset;
  numbers[at.calibrationSlope] = request.calibration.slope;
  return numbers;
}

function queryVector(vector: Float32Array | undefined, mode: SearchMode, dimension: number): Float32Array {
  if (vector === undefined) {
    throw new LorekeepError('INVALID_ARGUMENT', `vector: a ${mode} search needs the query's embedding`);
  }
  if (vectorsArgument('vector', vector, dimension).length !== dimension) {
    throw new LorekeepError(
      'DIMENSION_MISMATCH',
      `vector: ${dimension} numbers are expected, not ${vector.length}`,
    );
  }
  return vector;
}

function queryText(text: string | undefined, mode: SearchMode): string | undefined {
  if (typeof text === 'string' || (text === undefined && mode === 'dense')) return text;
  throw new LorekeepError(
    'INVALID_ARGUMENT',
    `text: a ${mode} search needs the query's text, not ${describe(text)}`,
  );
}
