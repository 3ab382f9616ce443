import { binding } from './binding.js';
import { translateError } from './errors.js';
import type { DistanceKernels } from './native.js';

export type { DistanceKernels } from './native.js';

/** Returns the distance kernels. The first call of this function, or the first index, fixes the choice for the process. */
export function distanceKernels(): DistanceKernels {
  try {
    return binding.distanceKernels();
  } catch (error) {
    throw translateError(error);
  }
}
