import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { releaseFreeMemory } from '../../lib/internal.js';
import { bytesPerMiB as MiB } from '../../src/base/machine/mebibytes.js';
import { MemoryRelease, startCollection } from '../../src/fairness/memory-release.js';

let release: ReturnType<typeof vi.fn<() => void>>;
let memory: MemoryRelease;

beforeEach(() => {
  vi.useFakeTimers();
  release = vi.fn<() => void>();
  memory = new MemoryRelease({ release, windowMs: 1000 });
});
afterEach(() => void vi.useRealTimers());

/** Windows in each of which so many MiB move. */
function windows(...amounts: number[]): void {
  for (const amount of amounts) {
    if (amount > 0) memory.moved(amount * MiB);
    vi.advanceTimersByTime(1000);
  }
}

it('free memory is given back once it is quiet after a burst, and not before', () => {
  windows(100, 50, 9);
  expect(release).not.toHaveBeenCalled();
  windows(1);
  expect(release).toHaveBeenCalledTimes(1);
  windows(1, 0, 0, 1);
  expect(release).toHaveBeenCalledTimes(1);
});

it('many quiet windows are as good as a burst, and few have no effect', () => {
  windows(...Array<number>(31).fill(1));
  expect(release).not.toHaveBeenCalled();
  windows(1);
  expect(release).toHaveBeenCalledTimes(1);
});

it('nothing ticks without work', () => {
  windows(100, 0, 0);
  expect(vi.getTimerCount()).toBe(0);
});

it('garbage is really collected, and the C library asked to give back its memory', async () => {
  vi.useRealTimers();
  let collected: unknown;
  const registry = new FinalizationRegistry((name) => {
    collected = name;
  });
  registry.register(new Uint8Array(64 * MiB), 'array');
  // A collection that V8 had already begun keeps objects allocated since: only the next one frees them. Who asks again before
  // V8 has ended one delays it.
  while (collected === undefined) {
    startCollection();
    await setTimeout(200);
  }
  expect(collected).toBe('array');
  expect(registry).toBeDefined();
  expect((globalThis as { gc?: unknown }).gc).toBeUndefined();
  await releaseFreeMemory();
});
