import { getHeapStatistics } from 'node:v8';
import { bytesPerMiB } from '../base/machine/mebibytes.js';
import type { MemoryLimits } from './ledger.js';

/** Part of V8's heap for the server itself and for garbage collection to stay fast. */
const ownHeap = 48 * bytesPerMiB;
const heapShare = 0.6;
const minHeap = 8 * bytesPerMiB;

export interface Budgets {
  server: MemoryLimits;
  client: MemoryLimits;
}

/**
 * Limits in bytes from the config's numbers. V8's heap has a limit of its own, which Node.js sets at its start, and a process
 * whose heap is full is aborted: clients may fill a fixed share of it.
 */
export function budgets(
  { max_memory_mb, max_client_memory_mb }: { max_memory_mb: number; max_client_memory_mb: number },
  heapLimit: number = getHeapStatistics().heap_size_limit,
): Budgets {
  const total = max_memory_mb * bytesPerMiB;
  const heap = Math.min(total, Math.max(minHeap, (heapLimit - ownHeap) * heapShare));
  const wanted = max_client_memory_mb === 0 ? total / 2 : max_client_memory_mb * bytesPerMiB;
  const client = Math.min(total, wanted);
  return { server: { heap, total }, client: { heap: Math.min(client, heap / 2), total: client } };
}
