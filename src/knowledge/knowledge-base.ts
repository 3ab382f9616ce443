import type { FieldDefinition, Metadata, MetadataOf, Storage } from '../../lib/internal.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import type { EmbeddingCounts } from './embeddings.js';
import type { FilesIdentity } from './identity.js';
import type { KnowledgeModel } from './model.js';
import { searchDefaults } from './search-config.js';
import { SearchableStorage } from './searchable.js';

export interface KnowledgeBaseFacts {
  config: KnowledgeBaseConfig;
  warnings: readonly string[];
  embeddings: EmbeddingCounts | undefined;
  indexWritten: boolean;
}

/** A storage opened from files. `Own`: the type of its records' metadata. */
export class KnowledgeBase<Own extends MetadataOf<Own> = Metadata> extends SearchableStorage<Own> {
  readonly config: KnowledgeBaseConfig;
  /** One sentence per config key without effect. */
  readonly warnings: readonly string[];
  /** Whether opening wrote the index file, because it was outdated. */
  readonly indexWritten: boolean;

  /** @internal The files that it was loaded from; set by a cache. */
  identity: FilesIdentity | undefined;

  /** @internal Use openKnowledgeBase(). */
  constructor(
    storage: Storage,
    model: KnowledgeModel,
    { config, warnings, embeddings, indexWritten }: KnowledgeBaseFacts,
  ) {
    const fields = config.fields as FieldDefinition[] | undefined;
    super(storage, model, embeddings, searchDefaults(config.search), fields);
    this.config = config;
    this.warnings = warnings;
    this.indexWritten = indexWritten;
  }

  /** Whether its files have changed since it was loaded; always false without a KnowledgeBaseCache. */
  override get outdated(): boolean {
    return this.identity?.isCurrent() === false;
  }
}
