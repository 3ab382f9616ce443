import { bytesPerMiB } from './mebibytes.js';
import { processMemory } from './process-memory.js';

/** Bytes of a server without clients: Node.js, the addon, the server's modules, a small model. */
const ownBytes = 128 * bytesPerMiB;

/** Share of the rest that clients may use. The other half is for garbage, pending work and caches. */
const clientsShare = 0.5;

const minMiB = 16;

/** Returns the default of `max_memory_mb`: MiB for all clients together. */
export function defaultMemoryMiB(memory: number = processMemory()): number {
  return Math.max(minMiB, Math.floor(((memory - ownBytes) * clientsShare) / bytesPerMiB));
}
