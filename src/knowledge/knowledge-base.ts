import { resolve } from 'node:path';
import type {
  CallOptions,
  FieldDefinition,
  Metadata,
  MetadataOf,
  StorageChanges,
  StorageRecord,
  UpdateResult,
} from '../../lib/internal.js';
import type { ChangesOfBase, ForgetResult, KnowledgeBaseBackup } from './changes/public.js';
import type { EngineBaseConfig, KnowledgeBaseConfig } from './config-schema.js';
import type { EmbeddingCounts } from './embeddings.js';
import type { FilesIdentity } from './identity.js';
import type { KnowledgeModel } from './model.js';
import { searchDefaults } from './search-config.js';
import { type ChangeWork, SearchableStorage } from './searchable.js';
import type { StorageEngine } from './storage-engine.js';

/** The config of a knowledge base in files or in a database. */
export type OpenedConfig = Partial<KnowledgeBaseConfig> &
  Pick<KnowledgeBaseConfig, 'embedding_model' | 'bm25_tokenizer'> & { engine?: EngineBaseConfig['engine'] };

export interface KnowledgeBaseFacts {
  config: OpenedConfig;
  warnings: readonly string[];
  embeddings: EmbeddingCounts | undefined;
  indexWritten: boolean;
  /** @internal Its change log. */
  changes: ChangesOfBase;
}

/** Rules of a change. */
export type ChangeOptions = CallOptions & Pick<StorageChanges, 'upsert' | 'ifVersion'>;

/** A storage opened from files. `Own`: the type of its records' metadata. */
export class KnowledgeBase<Own extends MetadataOf<Own> = Metadata> extends SearchableStorage<Own> {
  readonly config: OpenedConfig;
  /** One sentence per config key without effect. */
  readonly warnings: readonly string[];
  /** Whether opening wrote the index file, because it was outdated. */
  readonly indexWritten: boolean;

  /** @internal */
  readonly changes: ChangesOfBase;

  readonly #attached: { close(): Promise<void> }[] = [];

  /** @internal The files that it was loaded from; set by a cache. */
  identity: FilesIdentity | undefined;

  /** @internal Use openKnowledgeBase(). */
  constructor(
    storage: StorageEngine,
    model: KnowledgeModel,
    { config, warnings, embeddings, indexWritten, changes }: KnowledgeBaseFacts,
  ) {
    const fields = config.fields as FieldDefinition[] | undefined;
    super(storage, model, embeddings, searchDefaults(config.search), fields);
    this.config = config;
    this.warnings = warnings;
    this.indexWritten = indexWritten;
    this.changes = changes;
  }

  /** Whether its files have changed since it was loaded; always false without a KnowledgeBaseCache. */
  override get outdated(): boolean {
    return this.changes.isBehind || this.identity?.isCurrent() === false;
  }

  /**
   * Applies one batch of changes whole, as one version, durably: it is in the change log beside the records file before it is
   * acknowledged. New texts are embedded with the base's model. Searches go on meanwhile, and other processes that have opened the
   * knowledge base see the change within a second. The first change takes a lock that close() releases.
   * @throws RECORD_EXISTS, RECORD_MISSING, DUPLICATE_ID, each with `detail.ids`; VERSION_MISMATCH; INVALID_ARGUMENT for records that
   * break the rules of records files; TEXT_TOO_LONG with `detail.id`; IO if another process changes the knowledge base
   * (`detail.holder`), or the log cannot be written; CORRUPT for a damaged log; UNSUPPORTED with `readOnly`; CLOSED, CANCELLED
   */
  override update(changes: StorageChanges, { signal, turn, origin }: ChangeWork = {}): Promise<UpdateResult> {
    return this.changes.update(changes, signal, { turn, origin });
  }

  /** Adds records. With `upsert`, replaces those that exist. @throws as update() */
  add(records: readonly StorageRecord[], options: ChangeOptions = {}): Promise<UpdateResult> {
    const { signal, ...rules } = options;
    return this.update({ add: records, ...rules }, { signal });
  }

  /** Replaces records. With `upsert`, adds those that do not exist. @throws as update() */
  replace(records: readonly StorageRecord[], options: ChangeOptions = {}): Promise<UpdateResult> {
    const { signal, ...rules } = options;
    return this.update({ replace: records, ...rules }, { signal });
  }

  /** Removes records. @throws as update() */
  remove(ids: readonly string[], options: Omit<ChangeOptions, 'upsert'> = {}): Promise<UpdateResult> {
    const { signal, ...rules } = options;
    return this.update({ remove: ids, ...rules }, { signal });
  }

  /**
   * Writes the changes into the files: records, index and text index. Records without a change are copied byte for byte. It happens by
   * itself in the background once the change log is longer than the records file and 4 MiB. Changes wait meanwhile, searches do not.
   * @throws IO, CORRUPT, UNSUPPORTED, CLOSED, CANCELLED: the files stay as they are
   */
  merge({ signal }: CallOptions = {}): Promise<void> {
    return this.changes.merge(signal);
  }

  /**
   * Removes records for good: from memory, the records file, both indexes, the cache of embeddings and the change log, before it
   * resolves. Files that are not the base's, such as backups, keep them. `filesWith()` of the result searches the folders' bytes.
   * @throws as remove() and merge()
   */
  override forget(ids: readonly string[], { signal }: CallOptions = {}): Promise<ForgetResult> {
    return this.changes.forget(ids, signal);
  }

  /**
   * Copies the present version to a new folder, also while it is changed and served. The copy opens as it is.
   * @throws INVALID_ARGUMENT for a folder that is not empty; IO
   */
  backup(folder: string): Promise<KnowledgeBaseBackup> {
    return this.changes.backup(resolve(folder));
  }

  /** @internal Has something closed with it. */
  attach(closed: { close(): Promise<void> }): void {
    this.#attached.push(closed);
  }

  override async close(): Promise<void> {
    await Promise.all(this.#attached.splice(0).map((each) => each.close()));
    await this.changes.close();
    await super.close();
  }
}
