import { booleanArgument, choiceArgument, vectorsArgument } from '../boundary/arguments.js';
import { LorekeepError } from '../boundary/errors.js';
import { fusionMethods } from '../boundary/layout.gen.js';
import type { NativeLexicalOptions } from '../boundary/native.js';
import { type CallOptions, describe } from '../boundary/native-call.js';
import { type Calibration, type RankingOptions, searchNumbers } from '../boundary/options.gen.js';
import type { Filter, FilterExpression } from './filter.js';
import { nativeLexical } from './lexical-options.js';
import { rankingOptions } from './options.js';
import { refuseIneffective, refuseUnusedVariables, type SearchMode, searchModes } from './search-mode.js';

export { type SearchMode, searchModes };

/** How a hybrid search fuses its legs: by reciprocal ranks, or by normalised scores (docs/concepts/search.md). */
export type FusionMethod = (typeof fusionMethods)[number];

/** With `vector` alone the mode is "dense" by default, with `text` alone "lexical". */
export interface StorageSearchOptions extends CallOptions, RankingOptions {
  /** The query's embedding; required in dense and hybrid mode, refused in lexical mode. */
  vector?: Float32Array | undefined;
  /** The query's text; required in lexical and hybrid mode. In dense mode it makes `relevance` better, and finds nothing. */
  text?: string | undefined;
  /** Corrects the hits' relevance, before `minScore`. */
  calibration?: Calibration | undefined;
  /** Adds `highlights` and `snippet` to the hits: the words of the text in them. "snippet": only those. Default false. */
  highlight?: boolean | 'snippet' | undefined;
  /** Restricts the hits, in every mode. Expressions are compiled; the latest ones are cached. */
  filter?: Filter | FilterExpression | undefined;
  /** Values of the filter's variables, by name. */
  variables?: Readonly<Record<string, unknown>> | undefined;
}

/** A search as the addon gets it, checked and with all defaults. */
export interface StorageRequest {
  mode: SearchMode;
  topK: number;
  /** As searchNumbers() gives them. */
  numbers: readonly number[];
  vector: Float32Array | undefined;
  text: string | undefined;
  /** Undefined: words and BM25. */
  lexical: NativeLexicalOptions | undefined;
}

/** `ef`: the storage's default; undefined for the addon's. @throws INVALID_ARGUMENT, DIMENSION_MISMATCH */
export function storageRequest(
  options: StorageSearchOptions,
  ef: number | undefined,
  dimension: number,
): StorageRequest {
  if (typeof options !== 'object' || options === null) {
    throw new LorekeepError('INVALID_ARGUMENT', `a search: an object is expected, not ${describe(options)}`);
  }
  const mode = choiceArgument('mode', options.mode, defaultMode(options), searchModes);
  refuseIneffective(mode, options);
  refuseUnusedVariables(options);
  checkHighlight(options.highlight);
  const { calibration, scores } = options;
  if (calibration !== undefined && (typeof calibration !== 'object' || calibration === null)) {
    const reason = `an object with offset and slope is expected, not ${describe(calibration)}`;
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'calibration', reason });
  }
  const adapt = scores?.weight === undefined;
  const numbers = searchNumbers(options, { mode, ef, fusion: fusionMethod(options), scores: { adapt } });
  return {
    mode,
    topK: options.topK ?? rankingOptions.topK.usual,
    numbers,
    vector: mode === 'lexical' ? undefined : queryVector(options.vector, mode, dimension),
    text: queryText(options.text, mode),
    lexical: nativeLexical(options.lexical),
  };
}

/** @throws INVALID_ARGUMENT */
export function checkHighlight(value: StorageSearchOptions['highlight']): void {
  if (value !== 'snippet') booleanArgument('highlight', value, false);
}

function defaultMode({ vector, text }: StorageSearchOptions): SearchMode {
  if (text === undefined && vector !== undefined) return 'dense';
  return vector === undefined && text !== undefined ? 'lexical' : 'hybrid';
}

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

let numbers = new Float64Array(0);

/** Returns the request's numbers for the addon. The array is reused: hand it over before the next call. */
export function requestNumbers(request: StorageRequest): Float64Array {
  if (numbers.length === 0) numbers = new Float64Array(request.numbers.length);
  numbers.set(request.numbers);
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
