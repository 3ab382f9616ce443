import type { Storage, StorageSearchOptions, StorageSearchResult } from '../../lib/index.js';
import { fusionFor } from '../fusion/model-fusion.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import type { KnowledgeModel } from './model.js';

export interface KnowledgeSearchOptions extends Omit<StorageSearchOptions, 'vector' | 'text'> {
  text: string;
}

/** A storage opened from files, with the model that embedded it. */
export class KnowledgeBase implements AsyncDisposable {
  readonly config: KnowledgeBaseConfig;
  readonly storage: Storage;
  /** One sentence per key of the config file that has no effect. */
  readonly warnings: readonly string[];
  readonly #model: KnowledgeModel;

  /** @internal Use openKnowledgeBase(). */
  constructor(
    config: KnowledgeBaseConfig,
    storage: Storage,
    model: KnowledgeModel,
    warnings: readonly string[],
  ) {
    this.config = config;
    this.storage = storage;
    this.warnings = warnings;
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

  /** Embeds the text as the mode needs and searches. @throws as EmbeddingModel.embed() and Storage.search(). */
  async search({ text, ...options }: KnowledgeSearchOptions): Promise<StorageSearchResult> {
    const { model, queryPrefix = '', fusion } = this.#model;
    const { signal } = options;
    const vector = options.mode === 'lexical' ? undefined : await model.embed(queryPrefix + text, { signal });
    const rrf = fusionFor(this.storage.tokenizer, fusion, options.rrf);
    return this.storage.search({ ...options, rrf, text, vector });
  }

  /** Closes the storage. The model stays its owner's. */
  close(): Promise<void> {
    return this.storage.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
