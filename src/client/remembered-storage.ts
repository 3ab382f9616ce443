import type { SessionFields } from './frames.js';

type Fields = SessionFields<'CreateEmbeddedStringStorageRequest'>;
type StorageRecord = NonNullable<Fields['records']>[number];

/** The parts of an update, or of a forgetting, that change which records a storage has. */
export interface StorageChange {
  add?: readonly StorageRecord[] | undefined;
  replace?: readonly StorageRecord[] | undefined;
  remove?: readonly string[] | undefined;
  /** Ids of records that were forgotten. */
  ids?: readonly string[] | undefined;
}

/** What makes a storage again as its changes have left it: what was forgotten does not come back. */
export class RememberedStorage {
  /** Without the texts and records once they have changed. */
  #made: Fields;
  /** The records by id, once they have changed. */
  #records: Map<string, StorageRecord> | undefined;

  constructor(made: Fields) {
    this.#made = made;
  }

  /** The fields of the request that makes it. */
  get fields(): Fields {
    if (this.#records === undefined) return this.#made;
    return { ...this.#made, records: [...this.#records.values()] } as Fields;
  }

  /** Takes the time of the change, not of the storage, but for the first one. A replaced record goes to the end, as in the storage. */
  change({ add = [], replace = [], remove = [], ids = [] }: StorageChange): void {
    if (this.#made.configPath !== undefined) return;
    const records = this.#changing();
    for (const id of [...remove, ...ids]) records.delete(id);
    for (const record of [...add, ...replace]) {
      records.delete(record.id);
      records.set(record.id, record);
    }
  }

  #changing(): Map<string, StorageRecord> {
    if (this.#records !== undefined) return this.#records;
    const { strings = [], records = [], ...rest } = this.#made;
    const texts = strings.map((text, index): StorageRecord => ({ id: `${index}`, text }));
    this.#made = rest as Fields;
    this.#records = new Map([...texts, ...records].map((record) => [record.id, record]));
    return this.#records;
  }
}
