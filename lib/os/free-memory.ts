import { setImmediate as nextTurnOfLoop } from 'node:timers/promises';
import { binding } from '../boundary/binding.js';

/**
 * Returns memory freed by native code and buffers to the system; the C library would keep it. Works in steps of half a millisecond
 * or so, and ends on another thread.
 * @internal
 */
export async function releaseFreeMemory(): Promise<void> {
  while (binding.releaseFreePages()) await nextTurnOfLoop();
  binding.releaseFreeMemory();
}
