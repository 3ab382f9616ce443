import { availableMemory } from './available-memory.js';
import { bytesPerMiB } from './mebibytes.js';

/** Bytes that models leave free: for clients, searches and errors of estimates. */
const reserveBytes = 64 * bytesPerMiB;

/** Memory that models left is counted as free only after this time: it is returned in the background. */
const settleMs = 2000;

/** How many bytes of memory all models together may take. */
export class ModelLimit {
  readonly #fixed: number | undefined;
  readonly #available: () => number;
  readonly #now: () => number;
  #last: number | undefined;
  #settled = 0;

  /** `maxMiB`: of the config; 0: the free memory. */
  constructor(maxMiB: number, available: () => number = availableMemory, now = () => performance.now()) {
    this.#fixed = maxMiB === 0 ? undefined : maxMiB * bytesPerMiB;
    this.#available = available;
    this.#now = now;
  }

  /** `loaded`: bytes of the models in memory; `quiet`: whether none is being loaded or unloaded. */
  bytes(loaded: number, quiet: boolean): number {
    if (this.#fixed !== undefined) return this.#fixed;
    const now = this.#now();
    if (!quiet) this.#settled = now + settleMs;
    if (this.#last === undefined || now >= this.#settled)
      this.#last = Math.max(0, loaded + this.#available() - reserveBytes);
    return this.#last;
  }
}
