import { processMemory } from '../limits/process-memory.js';

/** Of the memory that this process may use: what knowledge bases may take before unused ones are closed. */
const defaultShare = 0.25;

/** How much a cache of knowledge bases holds when nobody says it, in bytes. */
export function defaultCacheBytes(memory: number = processMemory()): number {
  return Math.floor(memory * defaultShare);
}
