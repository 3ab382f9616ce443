import { binding } from './binding.js';

/**
 * Returns memory freed by native code and buffers to the system, on another thread; the C library would keep it.
 * @internal
 */
export function releaseFreeMemory(): void {
  binding.releaseFreeMemory();
}
