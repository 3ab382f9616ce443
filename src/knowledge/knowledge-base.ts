import { LorekeepError, type Storage, type StorageSearchResult } from '../../lib/index.js';
import { fusionFor, wordsAlone } from '../fusion/model-fusion.js';
import { Background } from '../lifecycle/background.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import type { EmbeddingCounts } from './embeddings.js';
import { embedQuery, isUnseenText, type KnowledgeModel } from './model.js';
import { type KnowledgeSearchOptions, searchOptions } from './search-options.js';

/** A storage of texts with the model that embeds queries for it. */
export class SearchableStorage implements AsyncDisposable {
  readonly storage: Storage;
  /** Where the records' embeddings came from; undefined when an index file had them. */
  readonly embeddings: EmbeddingCounts | undefined;
  readonly #model: KnowledgeModel;
  readonly #searches = new Background();
  #closing: Promise<void> | undefined;

  /** @internal Use openKnowledgeBase() or createStorage(). */
  constructor(storage: Storage, model: KnowledgeModel, embeddings: EmbeddingCounts | undefined) {
    this.storage = storage;
    this.embeddings = embeddings;
    this.#model = model;
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

  /**
   * Embeds the text as the mode needs and searches. A text without words has `plan.lexical.tokens` 0; one in which the model
   * sees nothing (blanks alone) is an error in dense mode, and in hybrid mode only its words are looked for (no `plan.dense`).
   * @throws TEXT_TOO_LONG; INVALID_ARGUMENT, also for an option that there is none of; as Storage.search()
   */
  async search(options: KnowledgeSearchOptions): Promise<StorageSearchResult> {
    if (this.#closing !== undefined) {
      throw new LorekeepError('CLOSED', `${this.constructor.name}: used after close()`);
    }
    return this.#searches.track(this.#search(searchOptions(options)));
  }

  async #search({ text, ...rest }: KnowledgeSearchOptions): Promise<StorageSearchResult> {
    if (rest.mode === 'lexical') return this.storage.search({ ...rest, text });
    const rrf = fusionFor(this.storage.tokenizer, this.#model.fusion, rest.rrf);
    try {
      const vector = await embedQuery(this.#model, text, rest.signal);
      return await this.storage.search({ ...rest, rrf, text, vector });
    } catch (error) {
      const lexical = rest.mode === 'hybrid' && isUnseenText(error) ? wordsAlone(rrf) : undefined;
      if (lexical === undefined) throw error;
      const nothing = new Float32Array(this.dimension);
      return this.storage.search({ ...rest, rrf: lexical, text, vector: nothing });
    }
  }

  /** Refuses new searches, waits for pending ones, closes the storage. Twice is fine. The model stays its owner's. */
  close(): Promise<void> {
    this.#closing ??= this.#searches.settled().then(() => this.storage.close());
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

interface KnowledgeBaseFacts {
  config: KnowledgeBaseConfig;
  warnings: readonly string[];
  embeddings: EmbeddingCounts | undefined;
}

/** A storage opened from files. */
export class KnowledgeBase extends SearchableStorage {
  readonly config: KnowledgeBaseConfig;
  /** One sentence per key of the config file that has no effect. */
  readonly warnings: readonly string[];

  /** @internal Use openKnowledgeBase(). */
  constructor(storage: Storage, model: KnowledgeModel, { config, warnings, embeddings }: KnowledgeBaseFacts) {
    super(storage, model, embeddings);
    this.config = config;
    this.warnings = warnings;
  }
}
