import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { bytesPerMiB } from '../base/machine/mebibytes.js';

/** Interval in ms at which the amount of memory allocated and freed is checked. */
const windowMs = 10_000;

/** Minimum amount moved since the last release that justifies another. */
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

type Collect = (options?: { type: 'minor' }) => void;

let collect: Collect | undefined;

/** Below 8 MiB of old objects V8 does not mark incrementally. So small a heap is collected at once, in milliseconds. */
const smallHeap = 9 * bytesPerMiB;

/** V8 starts to mark when 1 % of the heap is in use, and then collects as if memory were short. */
const startMarking = ['--incremental-marking-hard-trigger=1', '--optimize-for-size'];
const asBefore = ['--incremental-marking-hard-trigger=0', '--no-optimize-for-size'];

/**
 * Starts an incremental collection of V8's whole heap and returns. V8 marks on other threads and in small steps; only the
 * end, some milliseconds, stops the program. A collection asked for directly stops it for all of that.
 */
export function startCollection(): void {
  collect ??= exposedCollector();
  if (oldObjects() < smallHeap) {
    collect();
    return;
  }
  for (const flag of startMarking) setFlagsFromString(flag);
  // At the end of a minor collection V8 looks at the trigger.
  collect({ type: 'minor' });
  for (const flag of asBefore) setFlagsFromString(flag);
}

function exposedCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const exposed = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return exposed;
}

function oldObjects(): number {
  let bytes = 0;
  for (const { space_name, space_used_size } of getHeapSpaceStatistics())
    if (!/^(new|read_only)_/.test(space_name)) bytes += space_used_size;
  return bytes;
}
