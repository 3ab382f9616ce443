import type { ClientMemory } from '../fairness/client-memory.js';
import type { SearchableStorage } from '../knowledge/index.js';

/** The disk behind a storage, for changes of clients. */
export interface StorageDisk {
  /** Takes room for `more` bytes until the returned function is called. @throws MemoriesFull, StoragesFull if they do not fit */
  take(client: ClientMemory, more: number): Promise<() => void>;
  /** Counts what the storage takes now. */
  measure(): Promise<void>;
}

const disks = new WeakMap<SearchableStorage, StorageDisk>();

export const putOnDisk = (storage: SearchableStorage, disk: StorageDisk): void =>
  void disks.set(storage, disk);

/** Returns the disk of a storage; undefined for one in memory. */
export const diskOf = (storage: SearchableStorage): StorageDisk | undefined => disks.get(storage);
