import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import {
  defaultEf,
  dimensionArgument,
  efArgument,
  hitsArgument,
  vectorsArgument,
} from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import { countHeld } from '../boundary/event-loop-share.js';
import { storageResult as head } from '../boundary/layout.gen.js';
import type { NativeField, NativeFilter, NativeMetadataBuffer, NativeStorage } from '../boundary/native.js';
import {
  type CallOptions,
  callNative,
  type ProgressOptions,
  toArena,
  toMetadata,
  toRows,
} from '../boundary/native-call.js';
import { type NextSlice, Slices } from '../boundary/slices.js';
import { ChangingStorage } from './changing-storage.js';
import { type FieldDefinition, Filter, type FilterExpression } from './filter.js';
import { MatchReader, snippetOf } from './highlights.js';
import { type LexicalOptions, nativeLexical } from './lexical-options.js';
import { type RecallMeasurement, readRecall } from './recall-report.js';
import { RecentFilters } from './recent-filters.js';
import type { Records } from './records.js';
import { resultNumbers } from './result-numbers.js';
import { refuseUnusedVariables } from './search-mode.js';
import {
  convertResult,
  resultLength,
  type StorageHit,
  type StorageSearchResult,
  storageResult,
  type TimedSearchResult,
} from './storage-hits.js';
import type { StorageRecord } from './storage-record.js';
import {
  checkHighlight,
  requestNumbers,
  type StorageRequest,
  type StorageSearchOptions,
  storageRequest,
} from './storage-request.js';
import {
  type CountOptions,
  findOrdinals,
  type ListOptions,
  listRange,
  readRecords,
  type StoredRecord,
} from './stored-records.js';
import { TextIndex, type Tokenizer, tokenizerArgument } from './text-index.js';
import { type HnswOptions, hnswOptions, VectorIndex } from './vector-index.js';

export interface StorageOptions extends HnswOptions {
  /** The records' typed metadata fields. Default: none. */
  fields?: readonly FieldDefinition[] | undefined;
  /** Default "enhanced". */
  tokenizer?: Tokenizer | undefined;
}

export interface AssembleOptions extends CallOptions {
  /** Candidates held during a graph search without its own `ef`. 1 to 100,000; default: see `ef` of search(). */
  ef?: number | undefined;
}

/** Maximum number of hits of a search on this thread: creating their objects takes longer than searching for them. */
const maxHitsNow = 100;

/**
 * Records with their vectors and words, searched by meaning, by words, or both. They change in batches: update(). A call sees one
 * version whole.
 */
export class Storage extends ChangingStorage<Storage> {
  readonly #ef: number;
  readonly #fields: readonly NativeField[] | undefined;
  readonly #filters: RecentFilters;
  readonly #sharesFilters: boolean;

  /** @internal Use Storage.build(), Storage.empty() or Storage.fromRecords(). `filters`: shared by versions. */
  constructor(native: NativeStorage, ef = defaultEf, filters?: RecentFilters) {
    super(native);
    this.#ef = ef;
    this.#fields = native.fields;
    this.#sharesFilters = filters !== undefined;
    this.#filters = filters ?? new RecentFilters((expression) => this.compileFilter(expression));
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
    const width = dimensionArgument(dimension);
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

  /** Makes a storage without records. @throws as build() */
  static async empty(dimension: number, options: StorageOptions & CallOptions = {}): Promise<Storage> {
    const width = dimensionArgument(dimension);
    const native = {
      ...hnswOptions(options),
      tokenizer: tokenizerArgument(options.tokenizer),
      empty: true as const,
    };
    const none = new Float32Array(0);
    const [ids, texts, rows] = [await toArena([], 'ids'), await toArena([], 'texts'), await toRows(none)];
    const metadata = options.fields && (await metadataOf([], options.fields, options.signal));
    return callNative(
      options.signal,
      async (cancel) =>
        new Storage(await binding.buildStorage(ids, texts, rows, width, metadata, native, cancel, undefined)),
    );
  }

  /**
   * Makes a storage from the records of a file and indexes over them, without copying. Consumes the records, even if it
   * fails; the indexes are shared and may be closed afterwards.
   * @throws INVALID_ARGUMENT if an index has another number of records; CLOSED, CANCELLED.
   */
  static async fromRecords(
    records: Records,
    vectors: VectorIndex,
    textIndex: TextIndex,
    options: AssembleOptions = {},
  ): Promise<Storage> {
    const ef = efArgument(options.ef);
    return callNative(
      options.signal,
      async (cancel) =>
        new Storage(
          await binding.assembleStorage(records.handle, vectors.handle, textIndex.handle, cancel),
          ef,
        ),
    );
  }

  protected override atVersion(native: NativeStorage): Storage {
    return new Storage(native, this.#ef, this.#filters);
  }

  override close(): Promise<void> {
    if (!this.#sharesFilters) this.#filters.clear();
    return super.close();
  }

  /** Number of records. */
  get size(): number {
    return this.read((native) => native.size);
  }

  /** Numbers per embedding. */
  get dimension(): number {
    return this.read((native) => native.dimension);
  }

  /** Splits texts and queries into words. */
  get tokenizer(): Tokenizer {
    return this.read((native) => native.tokenizer as Tokenizer);
  }

  /** Memory in bytes, of all versions that are kept. */
  get memoryBytes(): number {
    return this.read((native) => native.memoryBytes);
  }

  /**
   * Checks a filter against the storage's fields and compiles it for many searches.
   * @throws INVALID_ARGUMENT with the JSON path, the expected value and the nearest field name in `detail`.
   */
  compileFilter(expression: FilterExpression): Filter {
    return new Filter(this.read((native) => native.compileFilter(expression)));
  }

  /**
   * Like compileFilter(), but caches the latest filters and returns the same one for the same expression.
   * @internal The caller must not close it.
   */
  keptFilter(expression: Filter | FilterExpression): Filter {
    return expression instanceof Filter ? expression : this.#filters.get(expression);
  }

  /** @internal Returns how many records contain a word, as tokenize() returns it. @throws CORRUPT for a forged index */
  documentFrequency(word: string): number {
    return this.read((native) => native.documentFrequency(word));
  }

  /** Returns the record with an id; undefined if there is none. @throws INVALID_ARGUMENT, CLOSED, CANCELLED */
  async get(id: string, options: CallOptions = {}): Promise<StoredRecord | undefined> {
    const [record] = await this.getMany([id], options);
    return record;
  }

  /** Returns the records with these ids, at most 10,000, in this order, without unknown ones. @throws as get() */
  getMany(ids: readonly string[], { signal }: CallOptions = {}): Promise<StoredRecord[]> {
    return this.runPinned(signal, async (native, cancel) =>
      this.#records(native, await findOrdinals(native, ids, cancel), signal),
    );
  }

  /** @throws as get() */
  has(id: string, { signal }: CallOptions = {}): Promise<boolean> {
    return this.run(signal, async (native, cancel) => (await findOrdinals(native, [id], cancel)).length > 0);
  }

  /** Returns all records in their order, or the records that match a filter. @throws as get() */
  async list(options: ListOptions = {}): Promise<StoredRecord[]> {
    const { signal } = options;
    const { begin, limit } = listRange(options);
    return this.runPinned(signal, async (native, cancel) => {
      const { ordinals } = await native.matching(...this.#filter(options), begin, limit, cancel);
      return this.#records(native, ordinals, signal);
    });
  }

  /** Counts all records, or the records that match a filter. @throws as get() */
  async count(options: CountOptions = {}): Promise<number> {
    return this.run(
      options.signal,
      async (native, cancel) => (await native.matching(...this.#filter(options), 0, 0, cancel)).count,
    );
  }

  /** Returns the embedding of a record; undefined for an unknown id. @throws as get() */
  embedding(id: string, { signal }: CallOptions = {}): Promise<Float32Array | undefined> {
    return this.runPinned(signal, async (native, cancel) => {
      const ordinals = await findOrdinals(native, [id], cancel);
      return ordinals.length === 0 ? undefined : native.rows(ordinals, cancel);
    });
  }

  /** @internal Returns records by ordinal. Awaits `nextSlice` before each slice of their conversion. */
  recordsAt(
    ordinals: Uint32Array,
    signal: AbortSignal | undefined,
    nextSlice: NextSlice,
  ): Promise<StoredRecord[]> {
    return this.run(signal, (native) => readRecords(native, ordinals, this.#fields, { signal, nextSlice }));
  }

  /**
   * @internal Returns positions in `ordinals` of at most `most` records that are farther than `distance` from each that is
   * kept before.
   */
  distinct(
    ordinals: Uint32Array,
    distance: number,
    most: number,
    signal: AbortSignal | undefined,
  ): Promise<Uint32Array> {
    return this.run(signal, (native, cancel) => native.distinct(ordinals, distance, most, cancel));
  }

  /** @internal The indexes, which share the storage's memory. The caller closes them. @throws UNSUPPORTED unless all is merged */
  indexes(): [VectorIndex, TextIndex] {
    const [vectors, words] = this.read(() => this.handle.indexes());
    return [new VectorIndex(vectors), new TextIndex(words)];
  }

  /** The metadata fields; undefined if there are none. */
  get fields(): readonly NativeField[] | undefined {
    return this.#fields;
  }

  #records(native: NativeStorage, ordinals: Uint32Array, signal: AbortSignal | undefined) {
    return readRecords(native, ordinals, this.#fields, { signal, nextSlice: nextTurnOfLoop });
  }

  #filter(options: CountOptions): [NativeFilter | undefined, object | undefined] {
    refuseUnusedVariables(options);
    const { filter, variables } = options;
    return filter === undefined ? [undefined, undefined] : [this.keptFilter(filter).handle, variables];
  }

  /** Returns the best records for a query. @throws INVALID_ARGUMENT, DIMENSION_MISMATCH, CLOSED, CANCELLED. */
  async search(options: StorageSearchOptions): Promise<StorageSearchResult> {
    const { hits, plan, version } = await this.searchInSlices(options, nextTurnOfLoop);
    return { hits, plan, version };
  }

  /**
   * Like search(), with times; but awaits `nextSlice` before each slice of a long result that it converts. `marked`: the options
   * by which words are marked, if they differ from those of the search.
   * @internal For programs that share the event loop among clients.
   */
  async searchInSlices(
    options: StorageSearchOptions,
    nextSlice: NextSlice,
    marked?: StorageSearchOptions['lexical'],
  ): Promise<TimedSearchResult> {
    if (!options?.highlight) return this.#searchInSlices(options, nextSlice);
    const pinned = this.pin();
    try {
      const result = await this.run(options.signal, () => pinned.#searchInSlices(options, nextSlice));
      const marking = marked === undefined ? options : { ...options, lexical: marked };
      await this.run(options.signal, () => pinned.addHighlights(result.hits, marking, nextSlice));
      return result;
    } finally {
      pinned.release();
    }
  }

  async #searchInSlices(options: StorageSearchOptions, nextSlice: NextSlice): Promise<TimedSearchResult> {
    const request = storageRequest(options, this.#ef || undefined, this.dimension);
    const { signal, variables } = options;
    const filter = options.filter === undefined ? undefined : this.keptFilter(options.filter);
    const { lexical } = request;
    const short = lexical === undefined && request.topK <= maxHitsNow;
    const now = short ? () => this.#searchNow(request, filter, variables) : undefined;
    return this.runSearch(signal, now, async (native, cancel) => {
      const { mode, vector, text } = request;
      const numbers = requestNumbers(request);
      const found = await native.search(numbers, vector, text, filter?.handle, variables, cancel, lexical);
      return convertResult(...found, { mode, fields: this.#fields, signal, nextSlice });
    });
  }

  /** @internal Adds the words of the query in each hit's text. */
  async addHighlights(
    hits: readonly StorageHit[],
    {
      text,
      lexical: given,
      highlight,
      signal,
    }: Pick<StorageSearchOptions, 'text' | 'lexical' | 'highlight' | 'signal'>,
    nextSlice: NextSlice,
  ): Promise<void> {
    checkHighlight(highlight);
    const lexical = nativeLexical(given);
    if (typeof text !== 'string') {
      const reason = "the query's text is needed";
      throw LorekeepError.about('INVALID_ARGUMENT', { field: 'highlight', reason });
    }
    const ordinals = Uint32Array.from(hits, ({ ordinal }) => ordinal);
    const numbers = await this.run(signal, (native, cancel) =>
      native.highlight(text, lexical, ordinals, highlight !== 'snippet', cancel),
    );
    const matches = new MatchReader(numbers);
    await new Slices(nextSlice, signal).each(hits, (hit) => {
      const found = matches.read();
      if (highlight !== 'snippet') hit.highlights = found.matches.map(({ begin, end }) => [begin, end]);
      hit.snippet = snippetOf(hit.text, found);
    });
  }

  /**
   * Measures how many of the `k` nearest records a dense search finds at the storage's default `ef`, for some of its
   * own records, each left out of its own search, without a filter and with filters of several kinds. Takes seconds for
   * 100,000 records.
   * @throws INVALID_ARGUMENT, CLOSED, CANCELLED; UNSUPPORTED unless all changes are merged
   */
  async reportRecall(options: CallOptions & { k?: number | undefined } = {}): Promise<RecallMeasurement[]> {
    const k = hitsArgument(options.k);
    return readRecall(
      await this.run(options.signal, (native, cancel) => native.reportRecall(k, this.#ef, cancel)),
    );
  }

  /**
   * Checks options that do not change from search to search.
   * @throws INVALID_ARGUMENT with `detail.field` "lexical..."
   */
  checkLexical(options: LexicalOptions | undefined): void {
    for (const field of nativeLexical(options)?.boostedFields ?? []) {
      if (this.#fields?.some(({ name, type }) => name === field && type === 'string')) continue;
      const reason = `${JSON.stringify(field)} is not a string field of the records`;
      throw LorekeepError.about('INVALID_ARGUMENT', { field: 'lexical.boosts', reason });
    }
  }

  /** Searches on this thread. Returns undefined if the search takes too long for it. */
  #searchNow(
    request: StorageRequest,
    filter: Filter | undefined,
    variables: StorageSearchOptions['variables'],
  ): TimedSearchResult | undefined {
    const { vector, text } = request;
    const found = resultNumbers(resultLength(request.topK, this.#fields));
    const numbers = requestNumbers(request);
    const rest = this.read((native) =>
      native.searchNow(numbers, vector, text, filter?.handle, variables, found),
    );
    countHeld(found[head.held] as number);
    return rest && storageResult(request.mode, found, rest, this.#fields);
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
