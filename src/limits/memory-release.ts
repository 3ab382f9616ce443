import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { bytesPerMiB } from './bytes.js';

/** How often the amount of memory that was taken or given back is looked at, in ms. */
const windowMs = 10_000;

/** Least amount since the last release for another to be worth it. */
const worthwhile = 32 * bytesPerMiB;

/** A window with less than this is quiet: others may go on with small requests. */
const quiet = 8 * bytesPerMiB;

export interface MemoryReleaseOptions {
  /** Gives free memory back. */
  release(): void;
  windowMs?: number;
}

/**
 * After a burst of work, once it is quiet, has the free memory of V8 and of the C library given back to the system, which
 * both keep otherwise. A server without work has no timer.
 */
export class MemoryRelease {
  readonly #options: Required<MemoryReleaseOptions>;
  #timer: NodeJS.Timeout | undefined;
  /** Bytes taken and given back in this window, and since the last release. */
  #moved = 0;
  #sinceRelease = 0;

  constructor(options: MemoryReleaseOptions) {
    this.#options = { windowMs, ...options };
  }

  /** To be called with each number of bytes that something takes or gives back. */
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

/** Collects all garbage of V8's heap: some milliseconds per ten megabytes that are still in use. */
export function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
    setFlagsFromString('--no-expose-gc');
  }
  // Without options: Node.js 20 takes some of them for a minor collection.
  collect();
}
