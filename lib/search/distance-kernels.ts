import { binding } from '../boundary/binding.js';
import { translateError } from '../boundary/errors.js';
import type { DistanceKernels } from '../boundary/native.js';

export type { DistanceKernels } from '../boundary/native.js';

/** Returns the distance kernels. The first call of this function, or the first index, fixes the choice for the process. */
export function distanceKernels(): DistanceKernels {
  try {
    return binding.distanceKernels();
  } catch (error) {
    throw translateError(error);
  }
}
