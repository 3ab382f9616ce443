import type { StorageChanges } from '../../../lib/internal.js';
import type { StatementRecord } from './statement.js';

/** A statement that a batch remembers. */
export interface Remembered {
  readonly id: string;
  readonly text: string;
  readonly change: 'added' | 'merged';
  /** Ids of earlier statements about its subject. */
  readonly replaced?: string[];
}

/** The batch of a turn while it is made: later statements see the earlier ones. */
export class MemoryDraft {
  readonly #records = new Map<string, StatementRecord>();
  readonly #added = new Set<string>();
  readonly #removed = new Set<string>();
  readonly #remembered = new Map<string, Remembered>();

  get isEmpty(): boolean {
    return this.#records.size === 0 && this.#removed.size === 0;
  }

  get remembered(): Remembered[] {
    return [...this.#remembered.values()];
  }

  get changes(): StorageChanges {
    const records = [...this.#records.values()] as { id: string; text: string }[];
    return {
      add: records.filter(({ id }) => this.#added.has(id)),
      replace: records.filter(({ id }) => !this.#added.has(id)),
      remove: [...this.#removed],
      upsert: true,
    };
  }

  get(id: string): StatementRecord | undefined {
    return this.#records.get(id);
  }

  isRemoved(id: string): boolean {
    return this.#removed.has(id);
  }

  /** Remembers a statement. `ended`: ids of the earlier statements about its subject. */
  put(record: StatementRecord, change: Remembered['change'], ended: readonly string[]): void {
    const { id, text } = record;
    if (change === 'added') this.#added.add(id);
    this.#removed.delete(id);
    this.#records.set(id, record);
    const known = this.#remembered.get(id)?.change ?? change;
    this.#remembered.set(id, {
      id,
      text,
      change: known,
      ...(ended.length > 0 && { replaced: [...ended] }),
    });
  }

  /** Changes the metadata of an earlier statement. */
  keep(record: StatementRecord): void {
    this.#records.set(record.id, record);
  }

  remove(id: string): void {
    const isNew = this.#added.delete(id);
    this.#records.delete(id);
    this.#remembered.delete(id);
    if (!isNew) this.#removed.add(id);
  }
}
