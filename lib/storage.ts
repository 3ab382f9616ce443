import { choiceArgument, integerArgument, numberArgument, vectorsArgument } from './arguments.js';
import { binding } from './binding.js';
import { LorekeepError, translateError } from './errors.js';
import { type FieldDefinition, Filter, type FilterExpression, type MetadataValue } from './filter.js';
import { Handle } from './handle.js';
import type { NativeMetadataBuffer, NativeStorage } from './native.js';
import {
  type CallOptions,
  callNative,
  describe,
  type ProgressOptions,
  toArena,
  toMetadata,
  toRows,
} from './native-call.js';
import type { Records } from './records.js';
import { type TextIndex, type Tokenizer, tokenizerArgument } from './text-index.js';
import { type HnswOptions, hnswOptions, type SearchPlan, type VectorIndex } from './vector-index.js';

export type SearchMode = 'dense' | 'lexical' | 'hybrid';

export const searchModes: readonly SearchMode[] = ['dense', 'lexical', 'hybrid'];

export interface StorageRecord {
  /** Returned with hits; unique within the storage. */
  id: string;
  text: string;
  /** Values of the storage's fields; other keys are ignored. */
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

export interface StorageOptions extends HnswOptions {
  /** The records' typed metadata fields. Default: none. */
  fields?: readonly FieldDefinition[] | undefined;
  /** Default "basic". */
  tokenizer?: Tokenizer | undefined;
}

export interface AssembleOptions extends CallOptions {
  /** Candidates held during a graph search that does not say how many. 1 to 100,000; default: see `ef` of search(). */
  ef?: number | undefined;
}

/** The addon's own: 96, or twice what the dense leg is asked for. */
const defaultEf = 0;

/** Reciprocal rank fusion: score = sum over the legs of weight / (k + rank), ranks from 1. */
export interface FusionOptions {
  /** Default 60. */
  k?: number | undefined;
  /** Default 1 each. */
  weights?: { dense?: number | undefined; lexical?: number | undefined } | undefined;
  /** How deep each leg goes; default max(50, 4 topK). */
  candidates?: number | undefined;
}

export interface StorageSearchOptions extends CallOptions {
  /** Default "dense". */
  mode?: SearchMode | undefined;
  /** The query's embedding: needed by dense and hybrid. */
  vector?: Float32Array | undefined;
  /** The query's words: needed by lexical and hybrid. */
  text?: string | undefined;
  /** Hits, 1 to 1000, default 5. */
  topK?: number | undefined;
  /** Largest cosine distance of the dense leg, 0 to 2. Records that only the lexical leg found are kept. */
  threshold?: number | undefined;
  /**
   * Candidates held during a graph search; higher finds more and takes longer. Default 96, or twice what the dense leg
   * is asked for (topK, `rrf.candidates` in hybrid mode) where that is more.
   */
  ef?: number | undefined;
  rrf?: FusionOptions | undefined;
  /** Which records may be found, in every mode. An expression is compiled for this search alone. */
  filter?: Filter | FilterExpression | undefined;
  /** Values of the filter's variables, by name. */
  variables?: Readonly<Record<string, unknown>> | undefined;
}

export interface StorageHit {
  /** Position of the record in the storage. */
  ordinal: number;
  id: string;
  text: string;
  /** Values of the fields that the record has, defaults included; absent when the storage has no fields. */
  metadata?: Record<string, MetadataValue>;
  /** What the hits are ordered by: 1 - distance, BM25 score or fused score, by mode. */
  score: number;
  /** Position among the hits, from 1. */
  rank: number;
  /** Cosine distance, 0 to 2; absent in lexical mode. */
  distance?: number;
  /** Absent in dense mode; 0 for a record that holds none of the query's words. */
  bm25Score?: number;
  /** Position in the dense leg, from 1, when that leg found it. */
  denseRank?: number;
  /** Position in the lexical leg, from 1, when that leg found it. */
  lexicalRank?: number;
}

export interface LexicalPlan {
  /** Words of the query after the tokenizer. 0: it has none, and nothing can be found by words. */
  tokens: number;
  /** Different words among them that occur in any record. */
  terms: number;
  /** Records whose score was computed; the rest could not reach the top. */
  scored: number;
}

export interface StoragePlan {
  mode: SearchMode;
  /** How the dense leg ran; absent in lexical mode. */
  dense?: SearchPlan;
  /** How the lexical leg ran; absent in dense mode. */
  lexical?: LexicalPlan;
}

export interface StorageSearchResult {
  hits: StorageHit[];
  plan: StoragePlan;
}

/** Records with their vectors and words, searched by meaning, by words, or both. Immutable once built. */
export class Storage extends Handle<NativeStorage> {
  readonly #ef: number;

  /** @internal Use Storage.build() or Storage.fromRecords(). */
  constructor(native: NativeStorage, ef: number = defaultEf) {
    super(native);
    this.#ef = ef;
  }

  /**
   * Builds a storage over copies of `records` and their row-major embeddings (records x dimension).
   * @throws INVALID_ARGUMENT (empty or duplicate ids, NaN), DIMENSION_MISMATCH, OUT_OF_MEMORY, CANCELLED.
   */
  static async build(
    records: readonly StorageRecord[],
    vectors: Float32Array,
    dimension: number,
    options: StorageOptions & ProgressOptions = {},
  ): Promise<Storage> {
    const width = integerArgument('dimension', dimension, 0, 1, 65_536);
    const numbers = vectorsArgument('vectors', vectors, width);
    const native = { ...hnswOptions(options), tokenizer: tokenizerArgument(options.tokenizer) };
    const ids = await toArena(column(records, 'id'), 'records.id', options.signal);
    const texts = await toArena(column(records, 'text'), 'records.text', options.signal);
    const rows = await toRows(numbers, options.signal);
    const metadata = options.fields && (await metadataOf(records, options.fields, options.signal));
    return callNative(
      options.signal,
      async (cancel) =>
        new Storage(
          await binding.buildStorage(ids, texts, rows, width, metadata, native, cancel, options.onProgress),
        ),
    );
  }

  /**
   * Puts a storage together from the records of a file and indexes over them, without copying any. The records are
   * given up, also when this fails; the indexes are shared and may be closed afterwards.
   * @throws INVALID_ARGUMENT when an index has another number of records; CLOSED, CANCELLED.
   */
  static async fromRecords(
    records: Records,
    vectors: VectorIndex,
    words: TextIndex,
    options: AssembleOptions = {},
  ): Promise<Storage> {
    const ef = integerArgument('ef', options.ef, defaultEf, 1, 100_000);
    return callNative(
      options.signal,
      async (cancel) =>
        new Storage(await binding.assembleStorage(records.content, vectors.handle, words.handle, cancel), ef),
    );
  }

  /** Records. */
  get size(): number {
    return this.native.size;
  }

  /** Numbers per embedding. */
  get dimension(): number {
    return this.native.dimension;
  }

  /** What cuts texts and queries into words. */
  get tokenizer(): Tokenizer {
    return this.native.tokenizer as Tokenizer;
  }

  /** Bytes held. */
  get memoryBytes(): number {
    return this.native.memoryBytes;
  }

  /**
   * Checks a filter against the storage's fields and compiles it for many searches.
   * @throws INVALID_ARGUMENT with the JSON path, what was expected and the nearest field name in `detail`.
   */
  compileFilter(expression: FilterExpression): Filter {
    try {
      return new Filter(this.native.compileFilter(expression));
    } catch (error) {
      throw translateError(error);
    }
  }

  /** The best records for a query. @throws INVALID_ARGUMENT, DIMENSION_MISMATCH, CLOSED, CANCELLED. */
  async search(options: StorageSearchOptions): Promise<StorageSearchResult> {
    const mode = choiceArgument('mode', options.mode, 'dense', searchModes);
    const topK = integerArgument('topK', options.topK, 5, 1, 1000);
    const candidates = integerArgument(
      'rrf.candidates',
      options.rrf?.candidates,
      Math.max(50, 4 * topK),
      1,
      10_000,
    );
    const request = {
      mode,
      topK,
      candidates: Math.max(candidates, topK),
      vector: mode === 'lexical' ? undefined : queryVector(options.vector, mode, this.native.dimension),
      text: mode === 'dense' ? undefined : queryText(options.text, mode),
      ef: integerArgument('ef', options.ef, this.#ef, 1, 100_000),
      threshold:
        options.threshold === undefined ? undefined : numberArgument('threshold', options.threshold, 0, 0),
      rrfK: numberArgument('rrf.k', options.rrf?.k, 60, 0),
      denseWeight: numberArgument('rrf.weights.dense', options.rrf?.weights?.dense, 1, 0),
      lexicalWeight: numberArgument('rrf.weights.lexical', options.rrf?.weights?.lexical, 1, 0),
      variables: options.variables,
    };
    const found = await this.run(options.signal, (native, cancel) => {
      const { filter } = options;
      const compiled = filter instanceof Filter || filter === undefined ? filter : this.compileFilter(filter);
      return native.search({ ...request, filter: compiled?.compiled }, cancel);
    });
    const hits = found.hits.map((hit, position) => ({ ...hit, rank: position + 1 }));
    const plan: StoragePlan = { mode };
    if (found.dense) plan.dense = found.dense;
    if (found.lexical) plan.lexical = found.lexical;
    return { hits, plan };
  }
}

function metadataOf(
  records: readonly StorageRecord[],
  fields: readonly FieldDefinition[],
  signal: AbortSignal | undefined,
): Promise<NativeMetadataBuffer> {
  return callNative(undefined, () =>
    toMetadata(
      records.map((record) => record.id),
      records.map((record) => record.metadata),
      fields,
      signal,
    ),
  );
}

function column(records: readonly StorageRecord[], field: 'id' | 'text'): string[] {
  if (!Array.isArray(records)) throw new LorekeepError('INVALID_ARGUMENT', 'records: an array is expected');
  return records.map((record: StorageRecord) => record?.[field]);
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

function queryText(text: string | undefined, mode: SearchMode): string {
  if (typeof text !== 'string') {
    throw new LorekeepError(
      'INVALID_ARGUMENT',
      `text: a ${mode} search needs the query's text, not ${describe(text)}`,
    );
  }
  return text;
}
