import { binding } from '../boundary/binding.js';
import type { NativeLongStep } from '../boundary/native.js';

/**
 * Watches the addon's threads for work that takes longer than `limitMs` of processor time (native/core/threads/step_watch.h says
 * which work); 0 ends the watch. The production edition has neither this file nor the functions of the addon. Returns false
 * for an addon that was compiled without them.
 * @internal
 */
export function watchSteps(limitMs: number): boolean {
  binding.watchSteps?.(limitMs);
  return binding.watchSteps !== undefined;
}

/**
 * Returns the steps found since the last call, at most 64.
 * @internal
 */
export const longSteps = (): NativeLongStep[] => binding.longSteps?.() ?? [];
