import { bytesPerMiB } from './bytes.js';
import { processMemory } from './process-memory.js';

/** What a server without clients takes: Node.js, the addon, the modules of the server, a small model. */
const ownBytes = 128 * bytesPerMiB;

/** Share of the rest for what clients make the server hold. The other half is for garbage, for work under way and for caches. */
const clientsShare = 0.5;

const leastMiB = 16;

/** MiB that all clients together may make the server hold when the config does not say it. */
export function defaultMemoryMiB(memory: number = processMemory()): number {
  return Math.max(leastMiB, Math.floor(((memory - ownBytes) * clientsShare) / bytesPerMiB));
}
