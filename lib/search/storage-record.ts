/** A record as it is given to a storage. */
export interface StorageRecord {
  /** Unique within the storage; hits carry it. */
  id: string;
  /** Searched by meaning and by words. */
  text: string;
  /** Values for the storage's fields; other keys are ignored. */
  metadata?: Readonly<Record<string, unknown>> | undefined;
}
