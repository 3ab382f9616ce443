import type { Metadata, MetadataOf } from '../../../lib/internal.js';
import { CatalogModels } from '../../models/catalog-models.js';
import { KnowledgeBase, type KnowledgeBaseFacts } from '../knowledge-base.js';
import type { KnowledgeModel, ModelSource } from '../model.js';
import { openKnowledgeBase } from '../open.js';
import type { StorageEngine } from '../storage-engine.js';
import { type FolderIndex, indexFolder } from './index-folder.js';
import type { IndexFolderOptions } from './options.js';

export interface CreateKnowledgeBaseOptions extends Omit<IndexFolderOptions, 'models'> {
  /** Default: the package's catalog, whose models are closed with the knowledge base. */
  models?: ModelSource | undefined;
}

/** A knowledge base made of a folder. */
export class FolderKnowledgeBase<Own extends MetadataOf<Own> = Metadata> extends KnowledgeBase<Own> {
  /** Result of indexing. */
  readonly index: FolderIndex;
  readonly #own: CatalogModels | undefined;

  /** @internal Use createKnowledgeBase(). */
  constructor(
    storage: StorageEngine,
    model: KnowledgeModel,
    facts: KnowledgeBaseFacts,
    index: FolderIndex,
    own: CatalogModels | undefined,
  ) {
    super(storage, model, facts);
    this.index = index;
    this.#own = own;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#own?.close();
  }
}

/**
 * Indexes the documents of a folder, or its changes since the last time, and opens the result.
 * @throws as indexFolder() and openKnowledgeBase()
 */
export async function createKnowledgeBase<Own extends MetadataOf<Own> = Metadata>(
  options: CreateKnowledgeBaseOptions,
): Promise<FolderKnowledgeBase<Own>> {
  const own = options?.models === undefined ? await CatalogModels.open() : undefined;
  const models = options?.models ?? (own as CatalogModels);
  try {
    const index = await indexFolder({ ...options, models });
    const { signal, log } = options;
    const opened = await openKnowledgeBase<Own>(index.config, { models, signal, log });
    return new FolderKnowledgeBase(opened.storage, opened.model, opened, index, own);
  } catch (error) {
    await own?.close();
    throw error;
  }
}
