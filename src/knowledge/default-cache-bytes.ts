import { totalmem } from 'node:os';

/** Of the memory that this process may use: what knowledge bases may take before unused ones are closed. */
const defaultShare = 0.25;

/**
 * How much a cache of knowledge bases holds when nobody says it, in bytes: a share of the machine's memory or, where that is
 * less, of `limit`, which control groups give a container or a unit. What is free at the moment would be another number at
 * every start.
 */
export function defaultCacheBytes(
  limit: number = process.constrainedMemory?.() ?? 0,
  machine: number = totalmem(),
): number {
  // Without a limit, some systems report 0 and others a number beyond any machine.
  return Math.floor((limit > 0 ? Math.min(limit, machine) : machine) * defaultShare);
}
