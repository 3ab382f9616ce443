import { processMemory } from './process-memory.js';

/** Share of the process's memory for knowledge bases before unused ones are evicted. */
const defaultShare = 0.25;

/** Returns the default size of a cache of knowledge bases, in bytes. */
export function defaultCacheBytes(memory: number = processMemory()): number {
  return Math.floor(memory * defaultShare);
}
