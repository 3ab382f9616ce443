import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import type { NextSlice } from '../../lib/basics.js';
import {
  type CallOptions,
  type CountOptions,
  type EmbedResult,
  type FieldDefinition,
  type Filter,
  type FilterExpression,
  type FusionOptions,
  type ListOptions,
  LorekeepError,
  type Metadata,
  type MetadataOf,
  type SearchMode,
  Storage,
  type StorageChanges,
  type StorageHit,
  type StorageSearchOptions,
  type StoredRecord,
  type TimedSearchResult,
  textToEmbed,
  type UpdateResult,
} from '../../lib/internal.js';
import { PendingWork } from '../base/waiting/pending-work.js';
import { fusionFor, scoreFusionFor, wordsAlone } from '../search/model-fusion.js';
import { BatchesInOrder } from './changes/prepare.js';
import type { Turn } from './embed-in-pieces.js';
import type { EmbeddingCounts } from './embeddings.js';
import { markedWords } from './marked-words.js';
import { embedsTexts, holdModel, isUnseenText, type KnowledgeModel } from './model.js';
import { checkOptionNames } from './option-names.js';
import { embedQuestion, type QuestionEmbedding } from './question.js';
import { type RerankFacts, type RerankOptions, rerank, rerankCandidates } from './rerank.js';
import { type ResultChoice, type ResultOptions, rankedHits, resultChoice } from './result-options.js';
import { addContext, chooseHits, type HitContext } from './results.js';
import { type SaveStorageOptions, saveStorage } from './save-storage.js';
import { bestDefaults, type SearchDefaults } from './search-defaults.js';
import { type CompleteOptions, completeOptions, type KnowledgeSearchOptions } from './search-options.js';
import type { StorageEngine } from './storage-engine.js';

/** A hit; with `rerank`, ranked by the reranker. */
export interface SearchHit<Own = Metadata> extends StorageHit<Own> {
  /** Score of the reranker, which orders the hits; `score` stays the score of the search. */
  rerankScore?: number;
  /** With `context`: the records around it. */
  context?: HitContext;
}

export interface SearchOutcome<Own = Metadata> extends Omit<TimedSearchResult, 'hits'> {
  /** Best first. */
  hits: SearchHit<Own>[];
  /** With `rerank`. */
  rerank?: RerankFacts;
  /** Milliseconds that the query's embedding took; about 0 in lexical mode. */
  embedMs: number;
  /** Milliseconds that the search took, without the embedding. */
  searchMs: number;
  /** Cost of the embedding; absent if nothing was embedded. */
  embedding?: {
    tokens: number;
    batches: number;
    /** Of a text that is longer than the model's context: the number of its parts. The one with the nearest record is used. */
    windows?: number;
  };
}

/** Options that a storage has accepted, with its defaults. */
export type PreparedOptions = Omit<CompleteOptions, 'text' | 'filter'> & { filter: Filter | undefined };

/** How a change shares its work. */
export interface ChangeWork extends CallOptions {
  /** @internal Runs each piece of the embedding. */
  turn?: Turn | undefined;
  /** @internal "files": the records are those of the documents of a folder. */
  origin?: 'update' | 'files' | undefined;
}

/** A storage of texts with the model that embeds queries for it. `Own`: the type of its records' metadata. */
export class SearchableStorage<Own extends MetadataOf<Own> = Metadata>
  implements AsyncDisposable, Disposable
{
  /** What keeps and searches the records: a Storage, unless the config names another engine. */
  readonly storage: StorageEngine;
  readonly model: KnowledgeModel;
  /** Counts of embedded and reused texts; undefined if the index file was loaded. */
  readonly embeddings: EmbeddingCounts | undefined;
  /** The options of searches that say nothing. */
  readonly defaults: SearchDefaults;
  readonly #fields: readonly FieldDefinition[] | undefined;
  /** When the version was made, of a storage that at() returned. */
  #time: number | undefined;
  readonly #searches = new PendingWork();
  readonly #batches = new BatchesInOrder();
  #closing: Promise<void> | undefined;

  /** @internal Use openKnowledgeBase() or createStorage(). */
  constructor(
    storage: StorageEngine,
    model: KnowledgeModel,
    embeddings: EmbeddingCounts | undefined,
    defaults: SearchDefaults = bestDefaults,
    fields?: readonly FieldDefinition[] | undefined,
  ) {
    this.storage = storage;
    this.model = model;
    this.embeddings = embeddings;
    this.defaults = defaults;
    this.#fields = fields;
  }

  /** @internal The storage of lorekeep's own indexes. @throws UNSUPPORTED for another engine */
  get embedded(): Storage {
    if (this.storage instanceof Storage) return this.storage;
    const reason = 'this needs the files of a knowledge base; this one is in a database';
    throw LorekeepError.about('UNSUPPORTED', {
      field: 'engine',
      reason,
      remedy: '`lorekeep pull` writes the files',
    });
  }

  /** Whether its source has changed since it was loaded. */
  get outdated(): boolean {
    return false;
  }

  get size(): number {
    return this.storage.size;
  }

  get dimension(): number {
    return this.storage.dimension;
  }

  /** Bytes of memory that it takes. */
  get bytes(): number {
    return this.storage.memoryBytes;
  }

  /** The version of the records: each batch of changes makes the next one. */
  get version(): number {
    return this.storage.version;
  }

  /**
   * Applies one batch of changes whole, as one version. New texts are embedded with the storage's model. Batches are applied in the
   * order of the calls; searches go on meanwhile.
   * @throws RECORD_EXISTS, RECORD_MISSING, DUPLICATE_ID, each with `detail.ids`; VERSION_MISMATCH; INVALID_ARGUMENT for records that
   * break the rules of records files; TEXT_TOO_LONG with `detail.id`; CLOSED, CANCELLED
   */
  async update(given: StorageChanges, options: ChangeWork = {}): Promise<UpdateResult> {
    const { signal, turn } = options;
    const source = { config: { fields: this.#fields }, model: this.model };
    const { changes, vectors } = await this.#batches.prepare(given, source, signal, { turn });
    return this.storage.update(changes, vectors, { signal });
  }

  /** Removes records for good: from every version, and from memory before it resolves. @throws RECORD_MISSING, DUPLICATE_ID */
  forget(ids: readonly string[], { signal }: CallOptions = {}): Promise<UpdateResult> {
    return this.storage.forget(ids, { signal });
  }

  /** Returns the storage as it was at a version, which refuses changes. Close it. @throws VERSION_GONE unless the version is kept */
  at(version: number): SearchableStorage<Own> {
    const view = this.storage.at(version);
    const past = new SearchableStorage<Own>(view, this.model, undefined, this.defaults, this.#fields);
    past.#time = this.#timeOf(version);
    return past;
  }

  /** Returns when a version was made, in ms since 1970; of one that is not kept any more, the next. */
  #timeOf(version: number): number {
    if (this.#time !== undefined) return this.#time;
    return this.storage.versions().find((kept) => kept.version >= version)?.time ?? Date.now();
  }

  /** Keeps the model from being unloaded for idleness until the result is called. */
  hold(): () => void {
    return holdModel(this.model);
  }

  /**
   * Checks the options that stay the same from search to search. Returns them with the storage's defaults and the compiled
   * filter: the storage keeps the latest, for searches that give the same expression. It is not the caller's to close.
   * @throws INVALID_ARGUMENT with the option in `detail.field`
   */
  prepare(options: Omit<KnowledgeSearchOptions, 'text'>): PreparedOptions {
    const { text, filter, ...complete } = this.#complete({ ...options, text: '' });
    resultChoice(complete, this.storage);
    if (complete.fusion === 'rrf') checkWeights(this.#fusion(complete.rrf));
    this.storage.checkLexical(complete.lexical);
    return {
      ...complete,
      filter: filter === undefined ? undefined : this.storage.keptFilter(filter as FilterExpression),
    };
  }

  /**
   * Embeds the text as the mode needs and searches. A text without words has `plan.lexical.tokens` 0; one in which the model
   * sees nothing (blanks alone) is an error in dense mode, and in hybrid mode only its words are looked for (no `plan.dense`).
   * A text that is longer than the model's context is embedded in windows (`embedding.windows`).
   * @throws INVALID_ARGUMENT, also for an unknown option; as Storage.search()
   */
  search(options: KnowledgeSearchOptions): Promise<SearchOutcome<Own>> {
    return this.searchInSlices(options, nextTurnOfLoop) as Promise<SearchOutcome<Own>>;
  }

  /**
   * Like search(), but awaits `nextSlice` before each slice of a long result that it converts, and may use other defaults.
   * @internal For programs that share the event loop among clients.
   */
  async searchInSlices(
    options: KnowledgeSearchOptions,
    nextSlice: NextSlice,
    defaults = this.defaults,
  ): Promise<SearchOutcome> {
    if (this.#closing !== undefined) {
      throw new LorekeepError('CLOSED', `${this.constructor.name}: used after close()`);
    }
    const complete = this.#complete(options, defaults);
    const choice = resultChoice(complete, this.storage);
    return this.#searches.track(
      choice === undefined ? this.#ranked(complete, nextSlice) : this.#chosen(complete, choice, nextSlice),
    );
  }

  /** @internal Checks the options. @throws INVALID_ARGUMENT */
  check(options: KnowledgeSearchOptions): void {
    resultChoice(this.#complete(options), this.storage);
  }

  /** @internal The field that keeps the records around a hit together. @throws INVALID_ARGUMENT */
  contextField(options: ResultOptions): string | undefined {
    const { topK } = this.defaults;
    return resultChoice({ topK, ...options, mode: 'dense' }, this.storage)?.context?.field;
  }

  /** Finds the records nearest to one of them, without itself. @throws INVALID_ARGUMENT for an unknown id; as search() */
  similar(
    id: string,
    options: Omit<KnowledgeSearchOptions, 'text' | 'similarTo'> = {},
  ): Promise<SearchOutcome<Own>> {
    return this.search({ ...options, text: '', similarTo: id });
  }

  /** Returns the best hits. */
  #ranked(
    { rerank: wanted, ...options }: CompleteOptions,
    nextSlice: NextSlice,
    storage = this.storage,
  ): Promise<SearchOutcome> {
    return wanted === undefined
      ? this.#search(options, nextSlice, storage)
      : this.#searchAndRerank(options, wanted, nextSlice, storage);
  }

  /** Returns hits chosen from a longer ranking, with their context records, all from one version of the storage. */
  async #chosen(
    options: CompleteOptions,
    choice: ResultChoice,
    nextSlice: NextSlice,
  ): Promise<SearchOutcome> {
    const pinned = this.storage.pin();
    try {
      return await this.#chosenFrom(pinned, options, choice, nextSlice);
    } finally {
      pinned.release();
    }
  }

  async #chosenFrom(
    storage: StorageEngine,
    options: CompleteOptions,
    choice: ResultChoice,
    nextSlice: NextSlice,
  ): Promise<SearchOutcome> {
    const { signal, rerank: wanted } = options;
    const { offset, topK, similarTo, context } = choice;
    const vector = similarTo === undefined ? options.vector : await embeddingOf(storage, similarTo, signal);
    const ranked =
      wanted === undefined ? choice.ranked : rerankCandidates(wanted, Math.min(rankedHits, offset + topK));
    const found = await this.#ranked(
      { ...options, vector, topK: ranked, highlight: false },
      nextSlice,
      storage,
    );
    const hits = await chooseHits(found.hits, choice, {
      storage,
      versionTime: this.#timeOf(storage.version),
      signal,
    });
    if (context !== undefined) await addContext(hits, context, storage, { signal, nextSlice });
    const lexical = markedWords(options, storage.tokenizer);
    if (options.highlight) await storage.addHighlights(hits, { ...options, lexical }, nextSlice);
    return { ...found, hits };
  }

  async #searchAndRerank(
    options: CompleteOptions,
    wanted: RerankOptions,
    nextSlice: NextSlice,
    storage: StorageEngine,
  ): Promise<SearchOutcome> {
    const { text, lexical, signal, topK } = options;
    const candidates = rerankCandidates(wanted, topK);
    const found = await this.#search({ ...options, topK: candidates }, nextSlice, storage);
    const query = textToEmbed(text, lexical);
    const { items, facts } = await rerank(wanted, query, found.hits, signal);
    const hits = items.slice(0, topK).map(({ item, score }, index) => ({
      ...item,
      rank: index + 1,
      ...(score !== undefined && { rerankScore: score }),
    }));
    return { ...found, hits, rerank: facts };
  }

  #complete(options: KnowledgeSearchOptions, defaults = this.defaults): CompleteOptions {
    return completeOptions(options, this.#mode(options), defaults);
  }

  /** A storage without a model looks for words, unless the search has an embedding. */
  #mode({ mode, vector, similarTo }: KnowledgeSearchOptions): SearchMode {
    if (mode !== undefined) return mode;
    if (similarTo !== undefined) return 'dense';
    if (embedsTexts(this.model)) return this.defaults.mode;
    return vector === undefined ? 'lexical' : 'hybrid';
  }

  async #search(
    options: CompleteOptions,
    nextSlice: NextSlice,
    storage: StorageEngine,
  ): Promise<SearchOutcome> {
    const started = performance.now();
    const { mode } = options;
    const legs = mode === 'hybrid' ? this.#legs(options) : undefined;
    const given = options.vector;
    const embedded =
      mode === 'lexical' || given !== undefined
        ? undefined
        : await this.#embed(options, storage, legs?.wordsAlone !== undefined);
    const embedMs = performance.now() - started;
    const unseen = embedded === undefined && given === undefined;
    const fused = unseen ? (legs?.wordsAlone ?? legs?.both) : legs?.both;
    const vector = mode === 'lexical' ? undefined : (given ?? this.#vector(embedded));
    const calibration = this.defaults.relevance?.[mode];
    // JavaScript copies options fastest over the names that are there.
    const query = {
      calibration,
      fusion: undefined,
      rrf: undefined,
      scores: undefined,
      ...options,
      ...fused,
      vector,
    };
    const marked = options.highlight ? markedWords(options, storage.tokenizer) : undefined;
    const result = await storage.searchInSlices(query, nextSlice, marked);
    const searchMs = performance.now() - started - embedMs;
    if (embedded === undefined) return { ...result, embedMs, searchMs };
    const { tokens, batches, windows } = embedded;
    const embedding = { tokens, batches, ...(windows !== undefined && { windows }) };
    return { ...result, embedMs, searchMs, embedding };
  }

  /** Returns undefined for a text without model tokens, if `unseenIsFine`. */
  async #embed(
    { text, lexical, filter, variables, signal }: CompleteOptions,
    storage: StorageEngine,
    unseenIsFine: boolean,
  ): Promise<QuestionEmbedding | undefined> {
    const nearest = async (vector: Float32Array) => {
      const { hits } = await storage.search({ mode: 'dense', vector, topK: 1, filter, variables, signal });
      return hits[0]?.distance ?? Number.POSITIVE_INFINITY;
    };
    try {
      return await embedQuestion(this.model, textToEmbed(text, lexical), nearest, signal);
    } catch (error) {
      if (unseenIsFine && isUnseenText(error)) return undefined;
      throw error;
    }
  }

  /** A leg of weight 0 needs a vector, too. */
  #vector(embedded: EmbedResult | undefined): Float32Array {
    return embedded?.vectors ?? new Float32Array(this.dimension);
  }

  /** Returns how a hybrid search fuses its legs, and how without its dense leg; undefined if no leg remains. */
  #legs(options: CompleteOptions): { both: Legs; wordsAlone: Legs | undefined } {
    const { fusion } = options;
    if (fusion === 'rrf') {
      const rrf = this.#fusion(options.rrf);
      const lexical = wordsAlone(rrf);
      return { both: { fusion, rrf }, wordsAlone: lexical && { fusion, rrf: lexical } };
    }
    const scores = scoreFusionFor(this.storage.tokenizer, this.model.fusion, options.scores);
    const lexical = scores.weight === 1 ? undefined : { fusion, scores: { ...scores, weight: 0 } };
    return { both: { fusion, scores }, wordsAlone: lexical };
  }

  #fusion(rrf: StorageSearchOptions['rrf']): FusionOptions {
    return fusionFor(this.storage.tokenizer, this.model.fusion, rrf);
  }

  /** Returns the record with an id; undefined if there is none. @throws INVALID_ARGUMENT, CLOSED, CANCELLED */
  get(id: string, options?: CallOptions): Promise<StoredRecord<Own> | undefined> {
    return this.storage.get(id, options) as Promise<StoredRecord<Own> | undefined>;
  }

  /** @throws as get() */
  has(id: string, options?: CallOptions): Promise<boolean> {
    return this.storage.has(id, options);
  }

  /** Returns records in their order, all or the ones that match a filter; by default the first 100. @throws as get() */
  list(options?: ListOptions): Promise<StoredRecord<Own>[]> {
    return this.storage.list(options) as Promise<StoredRecord<Own>[]>;
  }

  /** Counts all records, or the records that match a filter. @throws as get() */
  count(options?: CountOptions): Promise<number> {
    return this.storage.count(options);
  }

  /**
   * Writes a knowledge base that opens without embedding: the config file at `path`, and next to it the records, the index
   * and the text index. Returns the absolute paths.
   * @throws INVALID_ARGUMENT (a model without a name; a file that is not ours to replace; no records), UNSUPPORTED (an older
   * version with changes; changes meanwhile), IO, CANCELLED
   */
  save(path: string, options: SaveStorageOptions = {}): Promise<string[]> {
    checkOptionNames(options, { embeddingModel: true, signal: true }, 'save');
    return this.#searches.track(
      saveStorage(
        this.embedded,
        this.model,
        { defaults: this.defaults, fields: this.#fields },
        path,
        options,
      ),
    );
  }

  /** Refuses new searches, waits for pending ones, closes the storage. Twice is fine. The model stays its owner's. */
  close(): Promise<void> {
    this.#closing ??= this.#searches.settled().then(() => this.storage.close());
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** For `using`: closes without waiting for it, and drops its errors. */
  [Symbol.dispose](): void {
    this.close().catch(() => {});
  }
}

type Legs = Pick<StorageSearchOptions, 'fusion' | 'rrf' | 'scores'>;

function checkWeights({ weights }: FusionOptions): void {
  if (weights?.dense !== 0 || weights.lexical !== 0) return;
  const reason = 'both legs weigh 0 for this storage; a weight above 0 is expected for one';
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'rrf.weights', reason });
}

/** Returns the embedding of a record. @throws INVALID_ARGUMENT for an unknown id */
async function embeddingOf(
  storage: StorageEngine,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  const found = await storage.embedding(id, { signal });
  if (found !== undefined) return found;
  const reason = `the storage has no record ${JSON.stringify(id.slice(0, 128))}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'similarTo', reason });
}
