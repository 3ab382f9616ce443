import { binding } from './binding.js';

/**
 * Gives memory that native code and buffers have freed back to the system, on another thread: the C library keeps it
 * otherwise. @internal
 */
export function releaseFreeMemory(): void {
  binding.releaseFreeMemory();
}
