import type { SearchableStorage } from '../../knowledge/index.js';
import { putOnDisk, type StorageDisk } from '../storage-disk.js';

const memories = new WeakSet<SearchableStorage>();

/** Marks a storage as a memory. `disk`: of a memory that lasts. */
export function asMemory(storage: SearchableStorage, disk?: StorageDisk): void {
  memories.add(storage);
  if (disk !== undefined) putOnDisk(storage, disk);
}

/** Whether a storage is a memory, which its session may change as its own. */
export const isMemory = (storage: SearchableStorage): boolean => memories.has(storage);
