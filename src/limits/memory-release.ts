import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { bytesPerMiB } from './bytes.js';

/** Interval in ms at which the amount of memory allocated and freed is checked. */
const windowMs = 10_000;

/** Least amount moved since the last release that justifies another. */
const worthwhile = 32 * bytesPerMiB;

/** A window with less than this is quiet; small requests may continue. */
const quiet = 8 * bytesPerMiB;

export interface MemoryReleaseOptions {
  /** Returns free memory to the system. */
  release(): void;
  windowMs?: number;
}

/**
 * Returns free memory of V8 and the C library to the system in the first quiet window after a burst of work. An idle server
 * has no timer.
 */
export class MemoryRelease {
  readonly #options: Required<MemoryReleaseOptions>;
  #timer: NodeJS.Timeout | undefined;
  /** Bytes allocated and freed in this window, and since the last release. */
  #moved = 0;
  #sinceRelease = 0;

  constructor(options: MemoryReleaseOptions) {
    this.#options = { windowMs, ...options };
  }

  /** Call with each number of bytes allocated or freed. */
  moved(bytes: number): void {
    this.#moved += bytes;
    this.#timer ??= setTimeout(() => this.#look(), this.#options.windowMs).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const moved = this.#moved;
    this.#moved = 0;
    this.#sinceRelease += moved;
    if (moved >= quiet) {
      this.moved(0);
    } else if (this.#sinceRelease >= worthwhile) {
      this.#sinceRelease = 0;
      this.#options.release();
    }
  }
}

let collect: (() => void) | undefined;

/** Runs a full garbage collection: a few milliseconds per 10 MB of live heap. */
export function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
    setFlagsFromString('--no-expose-gc');
  }
  // Without options: Node.js 20 takes some of them for a minor collection.
  collect();
}
