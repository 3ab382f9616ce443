import {
  type FieldDefinition,
  type FileContent,
  LorekeepError,
  type StorageChanges,
  type UpdateResult,
} from '../../../lib/internal.js';
import { prepareBatch } from '../changes/prepare.js';
import type { BatchOptions, ChangesOfBase, ForgetResult, KnowledgeBaseBackup } from '../changes/public.js';
import type { KnowledgeModel } from '../model.js';
import { requireWrites } from './changes.js';
import type { PostgresClient } from './client.js';
import type { PostgresEngine } from './engine.js';

/** The changes of a knowledge base in Postgres: each batch is a transaction, and there is no log to merge. */
export class EngineChanges implements ChangesOfBase {
  readonly isBehind = false;
  readonly isWriter = false;
  readonly readOnly: boolean;
  readonly disk: undefined;
  readonly #engine: PostgresEngine;
  readonly #client: PostgresClient;
  readonly #model: KnowledgeModel;
  readonly #fields: readonly FieldDefinition[] | undefined;

  constructor(
    engine: PostgresEngine,
    {
      client,
      model,
      fields,
      readOnly,
    }: {
      client: PostgresClient;
      model: KnowledgeModel;
      fields: readonly FieldDefinition[] | undefined;
      readOnly: boolean;
    },
  ) {
    this.#engine = engine;
    this.#client = client;
    this.#model = model;
    this.#fields = fields;
    this.readOnly = readOnly;
  }

  /** Files of the base do not change. */
  set onFiles(_told: (records: FileContent) => void) {}

  async update(
    given: StorageChanges,
    signal: AbortSignal | undefined,
    { turn }: BatchOptions = {},
  ): Promise<UpdateResult> {
    this.#requireWrites();
    const source = { config: { fields: this.#fields }, model: this.#model };
    const { changes, vectors } = await prepareBatch(given, source, signal, { turn });
    return this.#engine.update(changes, vectors, { signal });
  }

  async forget(ids: readonly string[], signal: AbortSignal | undefined): Promise<ForgetResult> {
    this.#requireWrites();
    const texts = (await this.#engine.getMany(ids, { signal })).map(({ text }) => text);
    const result = await this.#engine.forget(ids, { signal });
    return { ...result, texts, filesWith: async () => [] };
  }

  merge(): Promise<void> {
    return Promise.reject(refusal('there are no changes beside the tables to merge'));
  }

  backup(): Promise<KnowledgeBaseBackup> {
    return Promise.reject(refusal('`lorekeep pull` writes its files, and pg_dump copies its tables'));
  }

  /** Nothing of a record is kept in memory. */
  async drop(): Promise<void> {}

  async letGo(): Promise<void> {}

  async completeForget(): Promise<boolean> {
    return false;
  }

  async settled(): Promise<void> {}

  async completed(): Promise<void> {}

  async close(): Promise<void> {}

  #requireWrites(): void {
    if (this.readOnly) throw refusal('it was opened to be read alone');
    requireWrites(this.#client);
  }
}

const refusal = (reason: string) =>
  LorekeepError.about('UNSUPPORTED', {
    field: 'engine',
    reason: `the knowledge base is in Postgres: ${reason}`,
  });
