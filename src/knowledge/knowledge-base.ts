import type { Storage } from '../../lib/index.js';
import { lexicalOptions } from '../lexical/fields.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import type { EmbeddingCounts } from './embeddings.js';
import type { KnowledgeModel } from './model.js';
import { SearchableStorage } from './searchable.js';

interface KnowledgeBaseFacts {
  config: KnowledgeBaseConfig;
  warnings: readonly string[];
  embeddings: EmbeddingCounts | undefined;
}

/** A storage opened from files. */
export class KnowledgeBase extends SearchableStorage {
  readonly config: KnowledgeBaseConfig;
  /** One sentence per config key without effect. */
  readonly warnings: readonly string[];

  /** @internal Use openKnowledgeBase(). */
  constructor(storage: Storage, model: KnowledgeModel, { config, warnings, embeddings }: KnowledgeBaseFacts) {
    super(storage, model, embeddings, { lexical: lexicalOptions(config.lexical), fusion: config.fusion });
    this.config = config;
    this.warnings = warnings;
  }
}
